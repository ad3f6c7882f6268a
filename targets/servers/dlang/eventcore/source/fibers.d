/// Serves a connection with a fiber, which waits in the middle of its work until a callback resumes it.
module service;

import answers;
import app : answers_;
import core.thread : Fiber;
import eventcore.core;
import std.algorithm : min;
import std.exception : assumeWontThrow;

nothrow:

void serve(StreamSocketFD socket) @trusted
{
    assumeWontThrow((new Connection(socket)).call());
}

private final class Connection : Fiber
{
nothrow:
    private StreamSocketFD socket;
    private ubyte[4096] input;
    private bool ended;
    private bool waiting;
    private IOStatus result;
    private size_t length;

    this(StreamSocketFD socket)
    {
        super(&converse);
        this.socket = socket;
    }

    private void converse()
    {
        RequestCounter requests;
        while (receive())
        {
            auto owed = requests.count(input[0 .. length]);
            while (owed)
            {
                const batch = min(owed, maxBatch);
                owed -= batch;
                if (!send(answers_[0 .. batch * (answers_.length / maxBatch)]))
                    break;
            }
        }
        eventDriver.sockets.releaseRef(socket);
    }

    private bool receive()
    {
        ended = false;
        eventDriver.sockets.read(socket, input, IOMode.once, &onEnd);
        return await();
    }

    private bool send(immutable(ubyte)[] bytes)
    {
        ended = false;
        eventDriver.sockets.write(socket, bytes, IOMode.all, &onEnd);
        return await();
    }

    /// Lets other fibers run until the operation has ended, unless it has ended already. Returns whether it succeeded.
    private bool await()
    {
        waiting = !ended;
        if (waiting)
            Fiber.yield();
        return result == IOStatus.ok;
    }

    private void onEnd(StreamSocketFD, IOStatus status, size_t n) @trusted
    {
        ended = true;
        result = status;
        length = n;
        if (waiting)
        {
            waiting = false;
            assumeWontThrow(call());
        }
    }
}
