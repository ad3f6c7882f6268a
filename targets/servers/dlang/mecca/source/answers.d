/// What is sent, and when it is owed: answers made once a second, requests found by the empty line that ends them.
module answers;

/// How many answers one send may carry.
enum maxBatch = 64;

/**
 * `maxBatch` answers in a row, dated now.
 *
 * A new block for every second: a send that is under way keeps the block that it began with.
 */
immutable(ubyte)[] makeAnswers(string server) @safe
{
    import std.array : replicate;
    import std.string : representation;

    return ("HTTP/1.1 200 OK\r\nServer: " ~ server ~ "\r\nDate: " ~ imfFixdate()
        ~ "\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!").replicate(maxBatch).representation;
}

/// Now, as in RFC 9110 section 5.6.7.
private string imfFixdate() @safe
{
    import std.datetime : Clock, UTC;
    import std.format : format;

    static immutable days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    static immutable months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

    const now = Clock.currTime(UTC());
    return format!"%s, %02d %s %04d %02d:%02d:%02d GMT"(days[now.dayOfWeek], now.day, months[now.month - 1], now.year,
        now.hour, now.minute, now.second);
}

/// Finds the ends of requests in a stream that may be cut anywhere. Remembers the last four bytes and nothing else.
struct RequestCounter
{
    private uint window;
    private enum uint requestEnd = 0x0d0a0d0a; // CR LF CR LF

    /// How many requests end in `bytes`, which follow those of the call before.
    uint count(scope const(ubyte)[] bytes) @safe pure nothrow @nogc
    {
        uint ends;
        foreach (b; bytes)
        {
            window = window << 8 | b;
            ends += window == requestEnd;
        }
        return ends;
    }
}
