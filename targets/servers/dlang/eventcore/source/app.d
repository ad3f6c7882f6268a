/**
 * HTTP over the event loop of eventcore: listener, clock and loop. Either `callbacks.d` or `fibers.d` is compiled in and serves
 * the connections. There is no parser and no router: every path and method gets the same answer.
 *
 * Usage: eventcore-callbacks|eventcore-fibers HOST PORT
 */
module app;

import answers;
import core.time : Duration, seconds;
import eventcore.core;
import service : serve;
import std.exception : assumeWontThrow, enforce;
import std.socket : InternetAddress;

/// The answers to send; replaced every second.
immutable(ubyte)[] answers_;

private void tick(TimerID timer) nothrow @safe
{
    answers_ = assumeWontThrow(makeAnswers("eventcore"));
    eventDriver.timers.wait(timer, (TimerID timer) { tick(timer); });
}

int main(string[] args)
{
    import std.conv : to;
    import std.stdio : stderr;

    if (args.length != 3)
    {
        stderr.writeln("usage: eventcore-callbacks|eventcore-fibers HOST PORT");
        return 2;
    }

    auto timer = eventDriver.timers.create();
    eventDriver.timers.set(timer, 1.seconds, 1.seconds);
    tick(timer);

    auto listener = eventDriver.sockets.listenStream(new InternetAddress(args[1], args[2].to!ushort),
        StreamListenOptions.reuseAddress | StreamListenOptions.reusePort, (_, client, scope RefAddress) {
            eventDriver.sockets.setTCPNoDelay(client, true);
            serve(client);
        });
    enforce(listener != StreamListenSocketFD.invalid, "cannot listen on " ~ args[1] ~ ":" ~ args[2]);

    while (eventDriver.core.processEvents(Duration.max) != ExitReason.exited)
    {
    }
    return 0;
}
