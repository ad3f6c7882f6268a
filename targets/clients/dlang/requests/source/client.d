/// Sends sequential GETs on one connection, with a Request of dlang-requests.
module client;

import std.conv : ConvException, to;
import std.exception : enforce;
import std.format : format;
import std.stdio : stderr, writefln;

import requests : Request;

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

/// Returns the total size of all bodies, in bytes.
ulong fetch(string url, uint count)
{
    auto request = Request();
    ulong bodyBytes;
    foreach (_; 0 .. count)
    {
        auto response = request.get(url);
        enforce(response.code == 200, format!"status %d, expected 200"(response.code));
        // The library mistakes a body that ends early for a complete one.
        enforce(response.contentLength < 0 || response.contentLength == response.responseBody.length, "the body ended early");
        bodyBytes += response.responseBody.length;
    }
    return bodyBytes;
}
