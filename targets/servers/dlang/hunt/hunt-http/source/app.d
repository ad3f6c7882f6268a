/**
 * The HTTP server and router of Hunt, with an event loop in each thread.
 *
 * The library adds neither Server nor Date, so the handler does, using the library's clock.
 *
 * Usage: hunt-http-server HOST PORT WORKERS
 */
module app;

import hunt.http;
import hunt.util.DateTime : DateTime;
import std.conv : to;

enum bodyText = "Hello, World!";

void plaintext(RoutingContext context)
{
    context.responseHeader(HttpHeader.SERVER, "hunt-http");
    context.responseHeader(HttpHeader.DATE, DateTime.getTimeAsGMT());
    context.responseHeader(HttpHeader.CONTENT_TYPE, MimeType.TEXT_PLAIN_VALUE);
    context.responseHeader(HttpHeader.CONTENT_LENGTH, bodyText.length.to!string);
    context.end(context.getMethod() == "HEAD" ? null : bodyText);
}

int main(string[] args)
{
    import std.functional : toDelegate;
    import std.stdio : stderr;

    if (args.length != 4)
    {
        stderr.writeln("usage: hunt-http-server HOST PORT WORKERS");
        return 2;
    }
    DateTime.startClock();
    HttpServer.builder()
        .setListener(args[2].to!ushort, args[1])
        .ioThreadSize(args[3].to!uint)
        .addRoute(["/"], ["GET", "HEAD"], toDelegate(&plaintext))
        .build()
        .start();
    return 0;
}
