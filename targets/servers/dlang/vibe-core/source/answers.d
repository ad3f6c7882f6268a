/// The answers, built once a second, and a counter that finds requests by the empty line that ends them.
module answers;

/// Maximum number of answers in one send.
enum maxBatch = 64;

/**
 * Returns `maxBatch` answers in a row, with the current date.
 *
 * Each second gets a new block, so a send in progress keeps the block that it began with.
 */
immutable(ubyte)[] makeAnswers(string server) @safe
{
    import std.array : replicate;
    import std.string : representation;

    return ("HTTP/1.1 200 OK\r\nServer: " ~ server ~ "\r\nDate: " ~ imfFixdate()
        ~ "\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!").replicate(maxBatch).representation;
}

/// Returns the current time in the format of RFC 9110, section 5.6.7.
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

/// Finds the ends of requests in a stream that may be split anywhere. Remembers only the last four bytes.
struct RequestCounter
{
    private uint window;
    private enum uint requestEnd = 0x0d0a0d0a; // CR LF CR LF

    /// Returns how many requests end in `bytes`, which continue those of the previous call.
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
