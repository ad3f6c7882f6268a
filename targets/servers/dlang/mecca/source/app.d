/**
 * HTTP in the fibers of Mecca's reactor, on one thread: one fiber per connection, and one for the clock. There is no parser and
 * no router: every path and method gets the same answer.
 *
 * Usage: mecca-server HOST PORT
 */
module app;

import answers;
import mecca.lib.net;
import mecca.lib.time;
import mecca.reactor;
import mecca.reactor.io.fd;
import std.algorithm : min, move;

enum maxFibers = 4096; /// connections, and a few fibers of the reactor

immutable(ubyte)[] answers_;
SockAddr address;

void tick()
{
    while (true)
    {
        theReactor.sleep(1.seconds);
        answers_ = makeAnswers("mecca");
    }
}

void accept()
{
    auto listener = ConnectedSocket.listen(address, true /* reuse the address */ );
    while (true)
    {
        SockAddr client;
        auto socket = listener.accept(client); // turns Nagle's algorithm off
        theReactor.spawnFiber!serve(move(socket));
    }
}

void serve(ConnectedSocket socket)
{
    ubyte[4096] input = void;
    RequestCounter requests;
    try
    {
        while (true)
        {
            const length = socket.read(input);
            if (length <= 0)
                return;
            auto owed = requests.count(input[0 .. length]);
            while (owed)
            {
                const batch = min(owed, maxBatch);
                owed -= batch;
                writeAll(socket, answers_[0 .. batch * (answers_.length / maxBatch)]);
            }
        }
    }
    catch (Exception)
    {
        // The client is gone; the socket closes itself.
    }
}

void writeAll(ref ConnectedSocket socket, immutable(ubyte)[] bytes)
{
    while (bytes.length)
        bytes = bytes[socket.write(bytes) .. $];
}

int main(string[] args)
{
    import core.sys.posix.signal : SIG_IGN, SIGPIPE, signal;
    import std.conv : to;
    import std.stdio : stderr, stdout;

    if (args.length != 3)
    {
        stderr.writeln("usage: mecca-server HOST PORT");
        return 2;
    }
    stdout.reopen("/dev/null", "w"); // the reactor writes a line for each fiber that begins or ends
    signal(SIGPIPE, SIG_IGN);
    address = SockAddr(SockAddrIPv4(IPv4(args[1]), args[2].to!ushort));
    answers_ = makeAnswers("mecca");

    Reactor.OpenOptions options = {numFibers: maxFibers};
    theReactor.setup(options);
    scope (exit)
        theReactor.teardown();
    theReactor.spawnFiber!tick();
    theReactor.spawnFiber!accept();
    return theReactor.start();
}
