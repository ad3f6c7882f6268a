/**
 * Code in fibers that is written as if calls blocked. Photon overrides read, write and accept of libc with versions that switch
 * fibers instead of waiting.
 *
 * Uses Node's parser and no router: every path and method gets the same answer. Photon starts as many threads as the processor
 * package has cores, which can't be changed.
 *
 * Usage: photon-server HOST PORT
 */
module app;

import c_http_parser;
import core.stdc.errno : EAGAIN, errno;
import core.sys.linux.sched : cpu_set_t, sched_getaffinity, sched_setaffinity;
import core.sys.posix.signal : SIG_IGN, SIGPIPE, signal;
import core.sys.posix.unistd : close, read, write;
import core.time : seconds;
import photon;
import std.conv : to;
import std.socket;

enum backlog = 4096;

struct Answer
{
    string text;
}

/// The current answer, replaced every second. A pointer, so that other threads see either the old text or the new one.
__gshared const(Answer)* answer;

string makeAnswer()
{
    return "HTTP/1.1 200 OK\r\nServer: photon\r\nDate: " ~ imfFixdate()
        ~ "\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";
}

/// Returns the current time in the format of RFC 9110, section 5.6.7.
string imfFixdate()
{
    import std.datetime : Clock, UTC;
    import std.format : format;

    static immutable days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    static immutable months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

    const now = Clock.currTime(UTC());
    return format!"%s, %02d %s %04d %02d:%02d:%02d GMT"(days[now.dayOfWeek], now.day, months[now.month - 1], now.year,
        now.hour, now.minute, now.second);
}

struct Connection
{
    http_parser parser;
    char[] output; /// answers to the requests of one read
    bool closing;
}

immutable http_parser_settings settings = {on_message_complete: &onRequest};

extern (C) int onRequest(http_parser* parser) nothrow
{
    auto connection = cast(Connection*) parser.data;
    if (!connection.closing)
        connection.output ~= answer.text;
    connection.closing |= !http_should_keep_alive(parser);
    return 0;
}

__gshared cpu_set_t allowed; /// the CPUs assigned to this process, read before photon pins its threads to the first CPUs
bool isUnpinned; // thread-local

/// Lets the running thread use all CPUs assigned to this process.
void unpin()
{
    if (!isUnpinned)
        sched_setaffinity(0, allowed.sizeof, &allowed);
    isUnpinned = true;
}

void serve(int socket)
{
    unpin();
    scope (exit)
        close(socket);

    auto connection = new Connection;
    connection.parser.data = connection;
    http_parser_init(&connection.parser, HTTP_REQUEST);

    auto input = new char[4096];
    auto length = readFirst(socket, input);
    while (length > 0)
    {
        connection.output.length = 0;
        connection.output.assumeSafeAppend();
        if (http_parser_execute(&connection.parser, &settings, input.ptr, length) != length)
            return;
        if (!writeAll(socket, connection.output) || connection.closing)
            return;
        length = read(socket, input.ptr, input.length);
    }
}

/**
 * Makes the first read of a connection. Photon registers a socket on its first use and misses the event of data that arrived
 * before, so the connection would wait forever. Therefore an empty write registers the socket, and a call that photon doesn't
 * redirect reads the earlier data.
 */
ptrdiff_t readFirst(int socket, char[] input)
{
    import core.sys.posix.sys.uio : iovec, readv;

    write(socket, null, 0);
    auto vector = iovec(input.ptr, input.length);
    const length = readv(socket, &vector, 1);
    const wouldWait = length < 0 && errno == EAGAIN;
    return wouldWait ? read(socket, input.ptr, input.length) : length;
}

bool writeAll(int socket, scope const(char)[] bytes)
{
    while (bytes.length)
    {
        const length = write(socket, bytes.ptr, bytes.length);
        if (length <= 0)
            return false;
        bytes = bytes[length .. $];
    }
    return true;
}

void accept(Socket listener)
{
    static import core.sys.posix.sys.socket;

    while (true)
    {
        const socket = cast(int) core.sys.posix.sys.socket.accept(listener.handle, null, null);
        if (socket >= 0)
            start(socket);
    }
}

/// Starts a fiber. This is a separate function, because all closures created in a loop would share its variable.
void start(int socket)
{
    go(() => serve(socket));
}

void tick()
{
    while (true)
    {
        answer = new Answer(makeAnswer());
        delay(1.seconds);
    }
}

int main(string[] args)
{
    import std.stdio : stderr;

    if (args.length != 3)
    {
        stderr.writeln("usage: photon-server HOST PORT");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    sched_getaffinity(0, allowed.sizeof, &allowed);

    auto listener = new TcpSocket(AddressFamily.INET);
    listener.setOption(SocketOptionLevel.SOCKET, SocketOption.REUSEADDR, true);
    listener.setOption(SocketOptionLevel.TCP, SocketOption.TCP_NODELAY, true); // accepted sockets inherit it
    listener.bind(new InternetAddress(args[1], args[2].to!ushort));
    listener.listen(backlog);

    answer = new Answer(makeAnswer());
    startloop();
    go(() => tick());
    go(() => accept(listener));
    runFibers();
    return 0;
}
