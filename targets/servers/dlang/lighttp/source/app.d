/**
 * The server and router of lighttp, over the event loop of libasync.
 *
 * The library sends no date, and closes each connection unless the client sent `Connection: keep-alive`. The handler therefore
 * sets Date, and `Connection: keep-alive` unless the library has set Connection.
 *
 * Usage: lighttp-server HOST PORT
 */
module app;

import core.time : seconds;
import libasync : AsyncTimer;
import lighttp;
import std.conv : to;

string date;

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

final class Routes
{
    @Get("") void plaintext(ServerRequest request, ServerResponse response)
    {
        if ("connection" !in response.headers)
            response.headers["Connection"] = "keep-alive";
        response.headers["Date"] = date;
        response.headers["Content-Type"] = "text/plain";
        response.status = StatusCodes.ok;
        response.body_ = "Hello, World!";
    }
}

int main(string[] args)
{
    import std.stdio : stderr;

    if (args.length != 3)
    {
        stderr.writeln("usage: lighttp-server HOST PORT");
        return 2;
    }
    ServerOptions options = {name: "lighttp"};
    auto server = new Server(options);
    server.router.add(new Routes);
    server.host(args[1], args[2].to!ushort);

    date = imfFixdate();
    auto clock = new AsyncTimer(server.eventLoop);
    clock.periodic().duration(1.seconds).run({ date = imfFixdate(); });

    server.run();
    return 0;
}
