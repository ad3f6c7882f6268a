/**
 * The server embedded in arsd.cgi, in the one of its three kinds that was selected when the library was built.
 *
 * Usage: arsd-processes|arsd-threads|arsd-hybrid HOST PORT HANDLERS
 *   HANDLERS  number of processes or threads that serve. In the first two kinds, each of them serves one connection until it closes,
 *             while other connections wait. In the hybrid, each has an event loop.
 */
module app;

import arsd.cgi;
import core.stdc.signal : raise;
import core.sys.posix.signal;
import core.sys.posix.unistd : getpid, pid_t, setpgid;
import std.conv : to;

void plaintext(Cgi cgi)
{
    cgi.header("Server: arsd");
    cgi.setResponseContentType("text/plain");
    if (cgi.pathInfo == "/")
        cgi.write("Hello, World!", true);
    else
    {
        cgi.setResponseStatus("404 Not Found");
        cgi.write("Not found", true);
    }
}

/// Sets the number of processes or threads that serve. The version is the one that the library was built with.
void configure(ref RequestServer server, int handlers)
{
    version (embedded_httpd_processes)
        processPoolSize = handlers;
    else
        server.numberOfThreads = handlers;

    version (embedded_httpd_hybrid)
    {
        // Fork once, because only then is the listener non-blocking, which several threads need to share it.
        server.useFork = handlers > 1;
        if (server.useFork)
            server.numberOfThreads = (handlers + 1) / 2;
    }
}

private __gshared pid_t leader;

/// Ends the whole process group, because the library leaves its forked children behind when it is terminated.
extern (C) void end(int) nothrow @nogc
{
    signal(SIGTERM, SIG_DFL);
    if (getpid() == leader)
        kill(0, SIGTERM);
    else
        raise(SIGTERM);
}

int main(string[] args)
{
    import std.stdio : stderr;

    if (args.length != 4)
    {
        stderr.writeln("usage: arsd-processes|arsd-threads|arsd-hybrid HOST PORT HANDLERS");
        return 2;
    }
    setpgid(0, 0);
    leader = getpid();
    signal(SIGTERM, &end);

    auto server = RequestServer(args[1], args[2].to!ushort);
    configure(server, args[3].to!int);
    server.serve!plaintext();
    return 0;
}
