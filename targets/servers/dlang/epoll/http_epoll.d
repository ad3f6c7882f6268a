/** HTTP over bare epoll, in D without its garbage collector. A port of c/epoll, for comparing languages and compilers.
 *
 * There is no parser and no router: a request ends at its empty line, and every path and method gets the same answer.
 * The server remembers only the last four bytes received, so a request may arrive split anywhere, or together with others. One send
 * answers all requests that arrive together. The server doesn't read from a client that doesn't read its answers.
 *
 * Usage: http_epoll HOST PORT level|edge
 *   level  epoll reports a socket for as long as it is ready: one read per report
 *   edge   epoll reports each change once: reads until the socket is drained, and never changes the registered events
 */
module http_epoll;

import core.stdc.errno : EAGAIN, errno;
import core.stdc.stdio : fprintf, perror, stderr;
import core.stdc.stdlib : atoi, calloc, exit, free;
import core.stdc.string : memmove, strcmp;
import core.stdc.time : strftime, time, tm;
import core.sys.linux.epoll;
import core.sys.linux.sys.socket : SO_REUSEPORT;
import core.sys.linux.timerfd;
import core.sys.posix.arpa.inet : inet_pton;
import core.sys.posix.netinet.in_ : htons, IPPROTO_TCP, sockaddr_in;
import core.sys.posix.netinet.tcp : TCP_NODELAY;
import core.sys.posix.sys.resource : getrlimit, rlimit, RLIMIT_NOFILE, setrlimit;
import core.sys.posix.sys.socket;
import core.sys.posix.time : CLOCK_REALTIME, gmtime_r, itimerspec;
import core.sys.posix.unistd : close, read;

extern (C) nothrow @nogc:

int accept4(int fd, sockaddr* address, socklen_t* length, int flags); // missing from druntime's bindings

enum SOCK_NONBLOCK = 0x800; // the value of O_NONBLOCK on x86 and ARM
enum SOCK_CLOEXEC = 0x80000; // the value of O_CLOEXEC
enum backlog = 4096; // druntime's SOMAXCONN has the value of old kernels

enum maxEvents = 512;
enum readSize = 16_384;
enum batch = 64; /// maximum number of answers in one send

immutable beforeDate = "HTTP/1.1 200 OK\r\nServer: epoll\r\nDate: ";
immutable afterDate = "\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";
enum dateLength = 29; /// length of an IMF-fixdate, RFC 9110, section 5.6.7
enum answerLength = beforeDate.length + dateLength + afterDate.length;

enum requestEnd = 0x0d0a0d0a; /// CR LF CR LF

struct Connection
{
    int fd;
    uint window; /// the last four bytes received
    uint owed; /// answers not yet begun
    size_t tailLength; /// bytes left of an answer that was cut short
    char[answerLength] tail; /// a copy of those bytes, because the date may change before they can be sent
}

enum Flow
{
    done,
    blocked,
    broken
}

__gshared
{
    char[batch * answerLength] answers;
    bool edge;
    int epollFd, listenFd, clockFd;
}

void die(const char* what)
{
    perror(what);
    exit(1);
}

void writeAnswers()
{
    char[dateLength + 1] date;
    tm utc;
    auto now = time(null);
    gmtime_r(&now, &utc);
    strftime(date.ptr, date.length, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    foreach (i; 0 .. batch)
    {
        auto answer = answers[i * answerLength .. (i + 1) * answerLength];
        answer[0 .. beforeDate.length] = beforeDate;
        answer[beforeDate.length .. beforeDate.length + dateLength] = date[0 .. dateLength];
        answer[$ - afterDate.length .. $] = afterDate;
    }
}

int openListener(const char* host, const char* port)
{
    sockaddr_in address;
    address.sin_family = AF_INET;
    address.sin_port = htons(cast(ushort) atoi(port));
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
    {
        fprintf(stderr, "%s is not an IPv4 address\n", host);
        exit(2);
    }
    const fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die("socket");
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, on.sizeof);
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, on.sizeof);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, on.sizeof); // inherited by accepted sockets
    if (bind(fd, cast(sockaddr*)&address, address.sizeof) < 0)
        die("bind");
    if (listen(fd, backlog) < 0)
        die("listen");
    return fd;
}

int openClock()
{
    itimerspec everySecond;
    everySecond.it_interval.tv_sec = 1;
    everySecond.it_value.tv_sec = time(null) + 1;
    const fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0 || timerfd_settime(fd, TFD_TIMER_ABSTIME, &everySecond, null) < 0)
        die("timerfd");
    return fd;
}

int watch(int operation, int fd, uint events, void* tag)
{
    epoll_event event;
    event.events = events;
    event.data.ptr = tag;
    return epoll_ctl(epollFd, operation, fd, &event);
}

void closeConnection(Connection* c)
{
    close(c.fd); // also removes the socket from the epoll set
    free(c);
}

void acceptAll()
{
    int fd;
    while ((fd = accept4(listenFd, null, null, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
    {
        auto c = cast(Connection*) calloc(1, Connection.sizeof);
        if (c is null)
        {
            close(fd);
            return;
        }
        c.fd = fd;
        const events = edge ? EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET : EPOLLIN;
        if (watch(EPOLL_CTL_ADD, fd, events, c) < 0)
            closeConnection(c);
    }
}

void countRequests(Connection* c, const char[] bytes)
{
    auto window = c.window;
    foreach (b; bytes)
    {
        window = window << 8 | b;
        c.owed += window == requestEnd;
    }
    c.window = window;
}

Flow sendBytes(int fd, const char[] bytes, out size_t sent)
{
    const n = send(fd, bytes.ptr, bytes.length, MSG_NOSIGNAL);
    if (n < 0)
        return errno == EAGAIN ? Flow.blocked : Flow.broken;
    sent = n;
    return sent == bytes.length ? Flow.done : Flow.blocked;
}

/// Sends the owed answers, until the socket's buffer is full.
Flow flush(Connection* c)
{
    size_t sent;
    if (c.tailLength)
    {
        const flow = sendBytes(c.fd, c.tail[0 .. c.tailLength], sent);
        c.tailLength -= sent;
        memmove(c.tail.ptr, c.tail.ptr + sent, c.tailLength);
        if (flow != Flow.done)
            return flow;
    }
    while (c.owed)
    {
        const count = c.owed < batch ? c.owed : batch;
        const flow = sendBytes(c.fd, answers[0 .. count * answerLength], sent);
        const begun = (sent + answerLength - 1) / answerLength;
        c.owed -= begun;
        c.tailLength = begun * answerLength - sent;
        c.tail[0 .. c.tailLength] = answers[sent .. sent + c.tailLength];
        if (flow != Flow.done)
            return flow;
    }
    return Flow.done;
}

/// Reads once and answers the received requests. Sets `drained` to whether the socket returned less than we asked for.
Flow answerOnce(Connection* c, out bool drained)
{
    char[readSize] bytes = void;
    const n = recv(c.fd, bytes.ptr, bytes.length, 0);
    drained = n < readSize;
    if (n < 0)
        return errno == EAGAIN ? Flow.done : Flow.broken;
    if (n == 0)
        return Flow.broken;
    countRequests(c, bytes[0 .. n]);
    return flush(c);
}

Flow serveLevel(Connection* c, uint events)
{
    bool drained;
    const wasBlocked = (events & EPOLLOUT) != 0;
    const flow = wasBlocked ? flush(c) : answerOnce(c, drained);
    if (flow != Flow.broken && (flow == Flow.blocked) != wasBlocked)
        watch(EPOLL_CTL_MOD, c.fd, flow == Flow.blocked ? EPOLLOUT : EPOLLIN, c);
    return flow;
}

Flow serveEdge(Connection* c, uint events)
{
    // A short read means that the socket is drained. But if this event also reports the end of the stream or an error, epoll won't
    // report that again, so we must read until recv does.
    const ending = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    bool drained;
    auto flow = flush(c);
    while (flow == Flow.done && (!drained || ending))
        flow = answerOnce(c, drained);
    return flow;
}

void run()
{
    epoll_event[maxEvents] events;
    ulong ticks;
    for (;;)
    {
        const count = epoll_wait(epollFd, events.ptr, maxEvents, -1);
        foreach (i; 0 .. count)
        {
            auto tag = events[i].data.ptr;
            if (tag is &listenFd)
                acceptAll();
            else if (tag is &clockFd)
            {
                if (read(clockFd, &ticks, ticks.sizeof) > 0)
                    writeAnswers();
            }
            else
            {
                auto c = cast(Connection*) tag;
                if ((edge ? serveEdge(c, events[i].events) : serveLevel(c, events[i].events)) == Flow.broken)
                    closeConnection(c);
            }
        }
    }
}

int main(int argc, char** argv)
{
    if (argc != 4 || (strcmp(argv[3], "level") && strcmp(argv[3], "edge")))
    {
        fprintf(stderr, "usage: http_epoll HOST PORT level|edge\n");
        return 2;
    }
    edge = strcmp(argv[3], "edge") == 0;

    rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);

    writeAnswers();
    listenFd = openListener(argv[1], argv[2]);
    clockFd = openClock();
    epollFd = epoll_create1(EPOLL_CLOEXEC);
    if (epollFd < 0 || watch(EPOLL_CTL_ADD, listenFd, EPOLLIN, &listenFd) < 0 || watch(EPOLL_CTL_ADD, clockFd, EPOLLIN, &clockFd) < 0)
        die("epoll");
    run();
    return 0;
}
