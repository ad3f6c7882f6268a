/// Serves a connection with callbacks only, which is the least that eventcore requires.
module service;

import answers;
import app : answers_;
import eventcore.core;
import std.algorithm : min;

@safe nothrow:

void serve(StreamSocketFD socket)
{
    (new Connection(socket)).advance();
}

private final class Connection
{
@safe nothrow:
    private StreamSocketFD socket;
    private ubyte[4096] input;
    private RequestCounter requests;
    private uint owed; /// answers that haven't been begun
    private bool advancing;
    private bool again;

    this(StreamSocketFD socket)
    {
        this.socket = socket;
    }

    /**
     * Takes the next step. A callback may run before the call that requested it returns. It then only requests another turn of
     * the loop, so that a client that never pauses can't grow the stack.
     */
    void advance()
    {
        again = true;
        if (advancing)
            return;
        advancing = true;
        scope (exit)
            advancing = false;
        while (again)
        {
            again = false;
            sendOrReceive();
        }
    }

    private void sendOrReceive()
    {
        const batch = min(owed, maxBatch);
        owed -= batch;
        if (batch)
            eventDriver.sockets.write(socket, answers_[0 .. batch * (answers_.length / maxBatch)], IOMode.all, &onSent);
        else
            eventDriver.sockets.read(socket, input, IOMode.once, &onReceived);
    }

    private void onReceived(StreamSocketFD, IOStatus status, size_t length)
    {
        owed += requests.count(input[0 .. length]);
        advanceUnlessFailed(status);
    }

    private void onSent(StreamSocketFD, IOStatus status, size_t)
    {
        advanceUnlessFailed(status);
    }

    private void advanceUnlessFailed(IOStatus status)
    {
        if (status == IOStatus.ok)
            advance();
        else
            eventDriver.sockets.releaseRef(socket);
    }
}
