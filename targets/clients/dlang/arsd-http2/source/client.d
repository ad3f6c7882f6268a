/// Sends sequential GETs on one connection, with arsd.http2.
module client;

import std.conv : ConvException, to;
import std.exception : enforce;
import std.format : format;
import std.stdio : stderr, writefln;

import arsd.http2 : HttpClient, Uri;

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
ulong fetch(string url, uint requests)
{
    auto client = new HttpClient();
    const uri = Uri(url);
    ulong bodyBytes;
    foreach (_; 0 .. requests)
    {
        auto response = client.request(uri).waitForCompletion();
        enforce(response.code == 200, format!"status %d (%s), expected 200"(response.code, response.codeText));
        bodyBytes += response.content.length;
    }
    return bodyBytes;
}
