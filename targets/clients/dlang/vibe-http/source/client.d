/// Sends sequential GETs on one connection, with vibe-http, which keeps one connection per thread.
module client;

import std.conv : ConvException, to;
import std.exception : enforce;
import std.format : format;
import std.stdio : stderr, writefln;

import vibe.http.client : HTTPClientResponse, requestHTTP;
import vibe.inet.url : URL;
import vibe.stream.operations : readAll;

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
ulong fetch(string address, uint requests)
{
    const url = URL(address);
    ulong bodyBytes;
    foreach (_; 0 .. requests)
        requestHTTP(url, null, (scope HTTPClientResponse response) {
            enforce(response.statusCode == 200, format!"status %d, expected 200"(response.statusCode));
            bodyBytes += response.bodyReader.readAll.length;
        });
    return bodyBytes;
}
