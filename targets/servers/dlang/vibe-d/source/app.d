/**
 * The HTTP server and router of vibe.d. Each worker thread has an event loop and a listener on the shared port.
 *
 * Usage: vibe-d-gc|vibe-d-manual HOST PORT WORKERS
 */
module app;

import std.conv : to;
import vibe.core.core;
import vibe.http.router;
import vibe.http.server;

void plaintext(HTTPServerRequest, HTTPServerResponse response)
{
    response.writeBody("Hello, World!", "text/plain");
}

void listen(string host, ushort port) nothrow
{
    try
    {
        auto settings = new HTTPServerSettings;
        settings.bindAddresses = [host];
        settings.port = port;
        settings.options |= HTTPServerOption.reusePort;
        settings.serverString = "vibe.d";

        auto router = new URLRouter;
        router.get("/", &plaintext);
        router.match(HTTPMethod.HEAD, "/", &plaintext);

        listenHTTP(settings, router);
    }
    catch (Exception e)
        assert(false, e.msg);
}

int main(string[] args)
{
    import std.stdio : stderr;

    if (args.length != 4)
    {
        stderr.writeln("usage: vibe-d-gc|vibe-d-manual HOST PORT WORKERS");
        return 2;
    }
    setupWorkerThreads(args[3].to!uint);
    runWorkerTaskDist(&listen, args[1], args[2].to!ushort);
    return runEventLoop();
}
