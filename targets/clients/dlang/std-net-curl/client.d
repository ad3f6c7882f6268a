/// Sends sequential GETs on one connection, with std.net.curl.
module client;

import std.conv : ConvException, to;
import std.exception : enforce;
import std.format : format;
import std.net.curl : CurlException, get, HTTP;
import std.stdio : stderr, writefln;

int main(string[] args)
{
    uint requests;
    try
    {
        enforce!ConvException(args.length == 3, "two arguments are needed");
        requests = args[2].to!uint;
    }
    catch (ConvException)
    {
        stderr.writeln("usage: client URL REQUESTS");
        return 2;
    }
    try
        writefln!"%d %d"(requests, fetch(args[1], requests));
    catch (Exception error)
    {
        stderr.writefln!"%s: %s"(args[1], error.msg);
        return 1;
    }
    return 0;
}

/// Returns the total size of all bodies, in bytes. Uses one handle for all requests, because the handle owns the connection.
ulong fetch(string url, uint requests)
{
    auto http = HTTP();
    ulong bodyBytes;
    foreach (_; 0 .. requests)
    {
        bodyBytes += get!(HTTP, ubyte)(url, http).length;
        enforce!CurlException(http.statusLine.code == 200, format!"status %d, expected 200"(http.statusLine.code));
    }
    return bodyBytes;
}
