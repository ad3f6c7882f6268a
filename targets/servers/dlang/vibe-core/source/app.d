/**
 * HTTP over the sockets of vibe-core: one task per connection, which waits like a thread but costs only a fiber.
 *
 * There is no parser and no router: every path and method gets the same answer. Each worker thread has an event loop, a listener
 * on the shared port and a clock of its own.
 *
 * Usage: vibe-core-server HOST PORT WORKERS
 */
module app;

import answers;
import core.time : seconds;
import std.algorithm : min;
import std.conv : to;
import vibe.core.core;
import vibe.core.net;

immutable(ubyte)[] answers_; // thread-local

void listen(string host, ushort port) nothrow
{
    try
    {
        answers_ = makeAnswers("vibe-core");
        setTimer(1.seconds, () nothrow @safe { refresh(); }, true);
        listenTCP(port, (connection) nothrow @safe { serve(connection); }, host,
            TCPListenOptions.reuseAddress | TCPListenOptions.reusePort);
    }
    catch (Exception e)
        assert(false, e.msg);
}

void refresh() nothrow @safe
{
    import std.exception : assumeWontThrow;

    answers_ = assumeWontThrow(makeAnswers("vibe-core"));
}

void serve(TCPConnection connection) nothrow @safe
{
    RequestCounter requests;
    try
    {
        connection.tcpNoDelay = true;
        while (connection.waitForData())
        {
            const input = connection.peek();
            auto owed = requests.count(input);
            connection.skip(input.length);
            while (owed)
            {
                const batch = min(owed, maxBatch);
                owed -= batch;
                connection.write(answers_[0 .. batch * (answers_.length / maxBatch)]);
            }
        }
    }
    catch (Exception)
    {
        // The client is gone; the listener closes the connection when we return.
    }
}

int main(string[] args)
{
    import std.stdio : stderr;

    if (args.length != 4)
    {
        stderr.writeln("usage: vibe-core-server HOST PORT WORKERS");
        return 2;
    }
    setupWorkerThreads(args[3].to!uint);
    runWorkerTaskDist(&listen, args[1], args[2].to!ushort);
    return runEventLoop();
}
