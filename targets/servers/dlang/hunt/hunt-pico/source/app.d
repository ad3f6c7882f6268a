/**
 * HTTP over the event loop of Hunt: picohttpparser finds the requests, and each gets an answer that was built beforehand. There
 * is no router: every path and method gets the same answer. Each thread has an event loop and a listener on the shared port.
 *
 * Usage: hunt-pico-server HOST PORT WORKERS
 */
module app;

import core.thread : Thread;
import core.time : seconds;
import hunt.event.EventLoop;
import hunt.event.EventLoopGroup;
import hunt.io.ByteBuffer;
import hunt.io.channel.Common : DataHandleStatus;
import hunt.io.TcpListener;
import hunt.io.TcpStream;
import hunt.util.DateTime;
import picohttpparser;
import std.algorithm : min;
import std.array : replicate;
import std.conv : to;
import std.socket : SocketOption, SocketOptionLevel;

enum backlog = 4096;
enum maxBatch = 64; /// answers in one write
enum maxHeaders = 100;

struct Answers
{
    string text; /// `maxBatch` copies of the answer

    this(string date)
    {
        text = ("HTTP/1.1 200 OK\r\nServer: hunt-pico\r\nDate: " ~ date
            ~ "\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!").replicate(maxBatch);
    }
}

/// The current answers, replaced every second. A pointer, so that other threads see either the old text or the new one.
__gshared const(Answers)* answers;

final class Connection
{
    private TcpStream stream;
    private const(char)[] begun; /// the beginning of an incomplete request

    this(TcpStream stream)
    {
        this.stream = stream;
        stream.setOption(SocketOptionLevel.TCP, SocketOption.TCP_NODELAY, true);
        stream.received(&onReceived);
    }

    private DataHandleStatus onReceived(ByteBuffer buffer)
    {
        auto input = begun ~ cast(const(char)[]) buffer.getRemaining();
        int length;
        uint owed;
        while (input.length && (length = parse(input)) > 0)
        {
            input = input[length .. $];
            owed++;
        }
        begun = input;
        answer(owed);
        if (length == -1)
            stream.close();
        return DataHandleStatus.Done;
    }

    private void answer(uint owed)
    {
        const text = answers.text;
        while (owed)
        {
            const batch = min(owed, maxBatch);
            owed -= batch;
            stream.write(cast(const(ubyte)[]) text[0 .. batch * (text.length / maxBatch)]);
        }
    }
}

/// Returns the length of the request at the beginning of `input`, −1 if it is malformed, or −2 if it is incomplete.
int parse(const(char)[] input) nothrow @nogc
{
    const(char)* method, path;
    size_t methodLength, pathLength;
    int minorVersion;
    phr_header[maxHeaders] headers = void;
    size_t headerCount = maxHeaders;
    return phr_parse_request(input.ptr, input.length, &method, &methodLength, &path, &pathLength, &minorVersion, headers.ptr,
        &headerCount, 0);
}

void listen(EventLoop loop, string host, ushort port)
{
    auto listener = new TcpListener(loop);
    listener.reusePort(true);
    listener.bind(host, port).listen(backlog);
    listener.accepted((TcpListener, TcpStream stream) { new Connection(stream); });
    listener.start();
}

int main(string[] args)
{
    import core.sys.posix.signal : SIG_IGN, SIGPIPE, signal;
    import std.stdio : stderr;

    if (args.length != 4)
    {
        stderr.writeln("usage: hunt-pico-server HOST PORT WORKERS");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    DateTime.startClock();
    answers = new Answers(DateTime.getTimeAsGMT());

    auto loops = new EventLoopGroup(args[3].to!uint);
    loops.start();
    foreach (loop; loops)
        loop.listen(args[1], args[2].to!ushort);

    while (true)
    {
        Thread.sleep(1.seconds);
        answers = new Answers(DateTime.getTimeAsGMT());
    }
}
