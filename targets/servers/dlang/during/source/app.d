/**
 * HTTP over bare io_uring, through the wrapper `during`.
 *
 * One ring on one thread. A connection has one operation in progress: a receive, or a send of pending answers. There is no parser
 * and no router: every path and method gets the same answer. Requires Linux 6.1, because task work is deferred until the loop
 * enters the kernel (DEFER_TASKRUN).
 *
 * Usage: during-server HOST PORT
 */
module app;

import answers;
import core.stdc.errno : EPERM;
import core.sys.linux.sys.socket : SO_REUSEPORT;
import core.sys.posix.netinet.in_ : sockaddr_in;
import core.sys.posix.sys.socket : socklen_t;
import during;
import std.algorithm : min;
import std.socket;

enum Step : ubyte
{
    accept,
    receive,
    send,
    tick
}

struct Connection
{
    ubyte[4096] input;
    RequestCounter requests;
    uint owed; /// answers that haven't been begun
    immutable(ubyte)[] unsent; /// the rest of the answers being sent
}

struct Server
{
    enum name = "during";
    enum queueLength = 1024;
    enum backlog = 4096;

    Uring ring;
    Socket listener;
    Connection*[] connections; /// by file descriptor; keeps them from being collected while the kernel writes to them
    immutable(ubyte)[] answers;
    KernelTimespec second = {tv_sec: 1};
    sockaddr_in peer; /// written by each accept, never read
    socklen_t peerLength = sockaddr_in.sizeof;

    this(string host, ushort port)
    {
        listener = new TcpSocket(AddressFamily.INET);
        listener.setOption(SocketOptionLevel.SOCKET, SocketOption.REUSEADDR, true);
        listener.setOption(SocketOptionLevel.SOCKET, cast(SocketOption) SO_REUSEPORT, true);
        listener.setOption(SocketOptionLevel.TCP, SocketOption.TCP_NODELAY, true); // accepted sockets inherit it
        listener.bind(new InternetAddress(host, port));
        listener.listen(backlog);
        answers = makeAnswers(name);
    }

    void run()
    {
        const result = ring.setup(queueLength, SetupFlags.SINGLE_ISSUER | SetupFlags.DEFER_TASKRUN);
        if (result == -EPERM)
            throw new Exception("io_uring is forbidden here: allow it with sysctl kernel.io_uring_disabled=0 or a container's seccomp profile");
        check(result, "io_uring_setup");
        accept();
        tick();
        while (true)
        {
            check(ring.submitAndWait(1), "io_uring_enter");
            for (; !ring.empty; ring.popFront)
                complete(ring.front);
        }
    }

    private void complete(CompletionEntry entry)
    {
        const fd = cast(int) (entry.user_data >> 8);
        final switch (cast(Step) (entry.user_data & 0xff))
        {
        case Step.accept:
            onAccept(entry.res);
            if (!(entry.flags & CQEFlags.MORE))
                accept();
            break;
        case Step.receive:
            onReceive(fd, entry.res);
            break;
        case Step.send:
            onSend(fd, entry.res);
            break;
        case Step.tick:
            answers = makeAnswers(name);
            tick();
            break;
        }
    }

    private void onAccept(int fd)
    {
        if (fd < 0)
            return; // the client is gone already, or too many files are open
        if (fd >= connections.length)
            connections.length = fd * 2;
        connections[fd] = new Connection;
        receive(fd);
    }

    private void onReceive(int fd, int length)
    {
        if (length <= 0)
            return close(fd);
        auto connection = connections[fd];
        connection.owed += connection.requests.count(connection.input[0 .. length]);
        sendOrReceive(fd);
    }

    private void onSend(int fd, int length)
    {
        if (length <= 0)
            return close(fd);
        connections[fd].unsent = connections[fd].unsent[length .. $];
        sendOrReceive(fd);
    }

    /// Sends pending answers, or receives if there are none. A client that doesn't read its answers isn't read from.
    private void sendOrReceive(int fd)
    {
        auto connection = connections[fd];
        if (connection.unsent.length == 0)
        {
            const batch = min(connection.owed, maxBatch);
            connection.owed -= batch;
            connection.unsent = answers[0 .. batch * (answers.length / maxBatch)];
        }
        if (connection.unsent.length)
            next().prepSend(fd, connection.unsent, MsgFlags.NOSIGNAL).user_data = tag(Step.send, fd);
        else
            receive(fd);
    }

    private void accept()
    {
        next().prepMultishotAccept(listener.handle, peer, peerLength).user_data = tag(Step.accept);
    }

    private void receive(int fd)
    {
        next().prepRecv(fd, connections[fd].input[]).user_data = tag(Step.receive, fd);
    }

    private void tick()
    {
        next().prepTimeout(second).user_data = tag(Step.tick);
    }

    private void close(int fd)
    {
        static import core.sys.posix.unistd;

        connections[fd] = null;
        core.sys.posix.unistd.close(fd);
    }

    /// Returns a free entry of the submission queue.
    private ref SubmissionEntry next()
    {
        if (ring.full)
            check(ring.submit(), "io_uring_enter");
        return ring.next();
    }

    /// Returns the tag that identifies a completion: the step in the low byte, the connection in the other bytes.
    private static ulong tag(Step step, int fd = 0)
    {
        return cast(ulong) fd << 8 | step;
    }

    private static void check(int result, string call)
    {
        import core.stdc.errno : EINTR;
        import std.exception : ErrnoException;

        if (result < 0 && result != -EINTR)
            throw new ErrnoException(call, -result);
    }
}

private __gshared int listenerHandle;

/// Ends the process. Shuts the listener down first, because the kernel destroys a ring some time after its process has ended and
/// would accept connections until then.
extern (C) void end(int) nothrow @nogc
{
    import core.sys.posix.sys.socket : SHUT_RDWR, shutdown;
    import core.sys.posix.unistd : _exit;

    shutdown(listenerHandle, SHUT_RDWR);
    _exit(0);
}

int main(string[] args)
{
    import core.sys.posix.signal : signal, SIGTERM;
    import std.conv : to;
    import std.stdio : stderr;

    if (args.length != 3)
    {
        stderr.writeln("usage: during-server HOST PORT");
        return 2;
    }
    auto server = Server(args[1], args[2].to!ushort);
    listenerHandle = server.listener.handle;
    signal(SIGTERM, &end);
    server.run();
    return 0;
}
