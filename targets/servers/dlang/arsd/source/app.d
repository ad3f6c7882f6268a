/**
 * The server embedded in arsd.cgi. Which of its three kinds it is was chosen when the library was built.
 *
 * Usage: arsd-processes|arsd-threads|arsd-hybrid HOST PORT HANDLERS
 *   HANDLERS  processes or threads that serve. Those of the first two kinds serve one connection until it closes, and leave others
 *             waiting; those of the hybrid have an event loop each.
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

/// Has `handlers` processes or threads serve. The version is the one that the library was built with.
void configure(ref RequestServer server, int handlers)
{
    version (embedded_httpd_processes)
        processPoolSize = handlers;
    else
        server.numberOfThreads = handlers;

    version (embedded_httpd_hybrid)
    {
        // Forks once. Only then is the listener non-blocking, so that several threads can share it.
        server.useFork = handlers > 1;
        if (server.useFork)
            server.numberOfThreads = (handlers + 1) / 2;
    }
}

private __gshared pid_t leader;

/// The library forks, and leaves its children behind when it is ended: end the whole group.
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
