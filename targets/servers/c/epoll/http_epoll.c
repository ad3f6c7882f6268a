/* HTTP over bare epoll. Shows how many requests one thread with one readiness queue can answer at most.
 *
 * There is no parser and no router: a request ends at its empty line, and every path and method gets the same answer.
 * The server remembers only the last four bytes received, so a request may arrive split anywhere, or together with others. One send
 * answers all requests that arrive together. The server doesn't read from a client that doesn't read its answers.
 *
 * Usage: http_epoll HOST PORT level|edge
 *   level  epoll reports a socket for as long as it is ready: one read per report
 *   edge   epoll reports each change once: reads until the socket is drained, and never changes the registered events
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 512
#define READ_SIZE 16384
#define BATCH 64 /* maximum number of answers in one send */

#define BEFORE_DATE "HTTP/1.1 200 OK\r\nServer: epoll\r\nDate: "
#define DATE_LENGTH 29 /* length of an IMF-fixdate, RFC 9110, section 5.6.7 */
#define AFTER_DATE "\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!"
#define ANSWER_LENGTH (sizeof BEFORE_DATE - 1 + DATE_LENGTH + sizeof AFTER_DATE - 1)

#define REQUEST_END 0x0d0a0d0au /* CR LF CR LF */

struct connection {
    int fd;
    uint32_t window;          /* the last four bytes received */
    uint32_t owed;            /* answers not yet begun */
    uint32_t tail_length;     /* bytes left of an answer that was cut short */
    char tail[ANSWER_LENGTH]; /* a copy of those bytes, because the date may change before they can be sent */
};

enum flow { DONE, BLOCKED, BROKEN };

static char answers[BATCH * ANSWER_LENGTH];
static bool edge;
static int epoll_fd;
static int listen_tag, clock_tag; /* their addresses identify the two descriptors that aren't connections */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void write_date(void)
{
    char date[DATE_LENGTH + 1];
    struct tm utc;
    time_t now = time(NULL);
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    for (size_t i = 0; i < BATCH; i++)
        memcpy(answers + i * ANSWER_LENGTH + sizeof BEFORE_DATE - 1, date, DATE_LENGTH);
}

static void write_answers(void)
{
    for (size_t i = 0; i < BATCH; i++) {
        char *answer = answers + i * ANSWER_LENGTH;
        memcpy(answer, BEFORE_DATE, sizeof BEFORE_DATE - 1);
        memcpy(answer + ANSWER_LENGTH - (sizeof AFTER_DATE - 1), AFTER_DATE, sizeof AFTER_DATE - 1);
    }
    write_date();
}

static int open_listener(const char *host, const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1) {
        fprintf(stderr, "%s is not an IPv4 address\n", host);
        exit(2);
    }
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die("socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* inherited by accepted sockets */
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
        die("bind");
    if (listen(fd, SOMAXCONN) < 0)
        die("listen");
    return fd;
}

static int open_clock(void)
{
    struct itimerspec every_second = {.it_interval = {.tv_sec = 1}, .it_value = {.tv_sec = time(NULL) + 1}};
    int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0 || timerfd_settime(fd, TFD_TIMER_ABSTIME, &every_second, NULL) < 0)
        die("timerfd");
    return fd;
}

static int watch(int operation, int fd, uint32_t events, void *tag)
{
    struct epoll_event event = {.events = events, .data.ptr = tag};
    return epoll_ctl(epoll_fd, operation, fd, &event);
}

static void close_connection(struct connection *c)
{
    close(c->fd); /* also removes the socket from the epoll set */
    free(c);
}

static void accept_all(int listen_fd)
{
    int fd;
    while ((fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct connection *c = calloc(1, sizeof *c);
        if (!c) {
            close(fd);
            return;
        }
        c->fd = fd;
        if (watch(EPOLL_CTL_ADD, fd, edge ? EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET : EPOLLIN, c) < 0)
            close_connection(c);
    }
}

static void count_requests(struct connection *c, const char *bytes, size_t length)
{
    uint32_t window = c->window;
    for (size_t i = 0; i < length; i++) {
        window = window << 8 | (unsigned char)bytes[i];
        c->owed += window == REQUEST_END;
    }
    c->window = window;
}

static enum flow send_bytes(int fd, const char *bytes, size_t length, size_t *sent)
{
    ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);
    *sent = n < 0 ? 0 : (size_t)n;
    if (n < 0 && errno != EAGAIN)
        return BROKEN;
    return *sent == length ? DONE : BLOCKED;
}

/* Sends the owed answers, until the socket's buffer is full. */
static enum flow flush(struct connection *c)
{
    size_t sent;
    if (c->tail_length) {
        enum flow flow = send_bytes(c->fd, c->tail, c->tail_length, &sent);
        c->tail_length -= sent;
        memmove(c->tail, c->tail + sent, c->tail_length);
        if (flow != DONE)
            return flow;
    }
    while (c->owed) {
        size_t length = (c->owed < BATCH ? c->owed : BATCH) * ANSWER_LENGTH;
        enum flow flow = send_bytes(c->fd, answers, length, &sent);
        size_t begun = (sent + ANSWER_LENGTH - 1) / ANSWER_LENGTH;
        c->owed -= begun;
        c->tail_length = begun * ANSWER_LENGTH - sent;
        memcpy(c->tail, answers + sent, c->tail_length);
        if (flow != DONE)
            return flow;
    }
    return DONE;
}

/* Reads once and answers the received requests. Sets `*drained` to whether the socket returned less than we asked for. */
static enum flow answer_once(struct connection *c, bool *drained)
{
    char bytes[READ_SIZE];
    ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
    *drained = n < READ_SIZE;
    if (n < 0)
        return errno == EAGAIN ? DONE : BROKEN;
    if (n == 0)
        return BROKEN;
    count_requests(c, bytes, (size_t)n);
    return flush(c);
}

static enum flow serve_level(struct connection *c, uint32_t events)
{
    bool drained;
    bool was_blocked = events & EPOLLOUT;
    enum flow flow = was_blocked ? flush(c) : answer_once(c, &drained);
    if (flow != BROKEN && (flow == BLOCKED) != was_blocked)
        watch(EPOLL_CTL_MOD, c->fd, flow == BLOCKED ? EPOLLOUT : EPOLLIN, c);
    return flow;
}

static enum flow serve_edge(struct connection *c, uint32_t events)
{
    /* A short read means that the socket is drained. But if this event also reports the end of the stream or an error, epoll won't
     * report that again, so we must read until recv does. */
    bool ending = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    bool drained = false;
    enum flow flow = flush(c);
    while (flow == DONE && !(drained && !ending))
        flow = answer_once(c, &drained);
    return flow;
}

static void run(int listen_fd, int clock_fd)
{
    struct epoll_event events[EVENTS];
    uint64_t ticks;
    for (;;) {
        int count = epoll_wait(epoll_fd, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            void *tag = events[i].data.ptr;
            if (tag == &listen_tag)
                accept_all(listen_fd);
            else if (tag == &clock_tag && read(clock_fd, &ticks, sizeof ticks) > 0)
                write_date();
            else if (tag != &clock_tag && (edge ? serve_edge : serve_level)(tag, events[i].events) == BROKEN)
                close_connection(tag);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 4 || (strcmp(argv[3], "level") && strcmp(argv[3], "edge"))) {
        fprintf(stderr, "usage: http_epoll HOST PORT level|edge\n");
        return 2;
    }
    edge = strcmp(argv[3], "edge") == 0;

    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);

    write_answers();
    int listen_fd = open_listener(argv[1], argv[2]);
    int clock_fd = open_clock();
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0 || watch(EPOLL_CTL_ADD, listen_fd, EPOLLIN, &listen_tag) < 0 || watch(EPOLL_CTL_ADD, clock_fd, EPOLLIN, &clock_tag) < 0)
        die("epoll");
    run(listen_fd, clock_fd);
}
