/* The server that load generators are measured against: one thread, edge-triggered epoll, a fixed answer per request.
 *
 * It does as little as a server can, so that the generator is what is measured: requests are told apart by their empty line only. Answers
 * to requests that came together leave together, by the plainest congestion control.
 *
 * Usage: server PORT BODY_BYTES [FILE [close]] (port 0: any). It prints the port that it listens on, keeps the number of requests so far in
 * the first eight bytes of the file, and with `close` ends each connection with its first answer, and says so. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, READ_BYTES = 64 * 1024, FDS_MAX = 65536, ANSWERS_MAX = 64, LAST_BYTES_MAX = 4096, ANSWER_BYTES_MAX = 1 << 22 };

/* How much of an empty line was seen, by descriptor; and the bytes that a full send buffer refused. */
static unsigned char seen[FDS_MAX];
static size_t unsent[FDS_MAX];
static char *answers;
static size_t answer_length, answers_in_buffer;
static int closes;
static uint64_t requests_here, *requests = &requests_here;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void prepare(size_t body_length) {
    char head[256];
    int head_length = snprintf(head, sizeof head,
                               "HTTP/1.1 200 OK\r\nServer: bare\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
                               "Content-Type: text/plain\r\n%sContent-Length: %zu\r\n\r\n", closes ? "Connection: close\r\n" : "", body_length);
    answer_length = head_length + body_length;
    answers_in_buffer = answer_length > READ_BYTES ? 1 : ANSWERS_MAX;
    answers = malloc(answer_length * answers_in_buffer);
    if (!answers) die("malloc");
    for (size_t i = 0; i < answers_in_buffer; i++) {
        memcpy(answers + i * answer_length, head, head_length);
        memset(answers + i * answer_length + head_length, 'x', body_length);
    }
}

static void count_in(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, sizeof *requests)) die(path);
    requests = mmap(NULL, sizeof *requests, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (requests == MAP_FAILED) die(path);
    close(fd);
}

static size_t find_ends(int fd, const char *bytes, size_t length) {
    static const char empty_line[] = "\r\n\r\n";
    size_t count = 0, at = 0;
    while (at < length) {
        if (seen[fd] == 0) {
            const char *found = memmem(bytes + at, length - at, empty_line, 4);
            if (found) {
                count++;
                at = found - bytes + 4;
                continue;
            }
            at = length > 3 && length - 3 > at ? length - 3 : at;
        }
        for (; at < length; at++) {
            seen[fd] = bytes[at] == empty_line[seen[fd]] ? seen[fd] + 1 : bytes[at] == '\r';
            if (seen[fd] == 4) {
                seen[fd] = 0;
                count++;
                at++;
                break;
            }
        }
    }
    return count;
}

/* What a client sends is nearly always what it sent last: one comparison tells as much as a search. */
static size_t count_requests(int fd, const char *bytes, size_t length) {
    static char last[LAST_BYTES_MAX];
    static size_t last_length, last_count;
    int from_the_start = seen[fd] == 0;
    if (from_the_start && length == last_length && memcmp(bytes, last, length) == 0) return last_count;
    size_t count = find_ends(fd, bytes, length);
    if (from_the_start && seen[fd] == 0 && length <= sizeof last) {
        memcpy(last, bytes, length);
        last_length = length;
        last_count = count;
    }
    return count;
}

static void send_unsent(int fd) {
    while (unsent[fd]) {
        size_t chunk = unsent[fd] % (answer_length * answers_in_buffer);
        if (chunk == 0) chunk = answer_length * answers_in_buffer;
        ssize_t sent = send(fd, answers + answer_length * answers_in_buffer - chunk, chunk, MSG_NOSIGNAL);
        if (sent < 0) return;
        unsent[fd] -= sent;
    }
}

static void serve(int fd) {
    static char buffer[READ_BYTES];
    for (;;) {
        ssize_t length = recv(fd, buffer, sizeof buffer, 0);
        if (length == 0 || (length < 0 && errno != EAGAIN)) {
            close(fd);
            return;
        }
        if (length < 0) return;
        size_t count = count_requests(fd, buffer, length);
        *requests += count;
        unsent[fd] += count * answer_length;
        send_unsent(fd);
        if (closes && count) {
            close(fd);
            return;
        }
        if ((size_t)length < sizeof buffer) return;
    }
}

static void accept_all(int epoll, int listener) {
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
        if (fd < 0) return;
        if (fd >= FDS_MAX) {
            close(fd);
            continue;
        }
        seen[fd] = 0;
        unsent[fd] = 0;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.fd = fd};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) die("epoll_ctl");
    }
}

static int listen_on(int port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0) die("socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    /* Connections inherit it. A system's own choice may pace, as BBR does, at a cost for each answer. */
    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
    if (bind(fd, (struct sockaddr *)&address, length) || listen(fd, 4096)) die("listen");
    if (getsockname(fd, (struct sockaddr *)&address, &length)) die("getsockname");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

int main(int argc, char **argv) {
    if (argc < 3 || argc > 5 || atol(argv[2]) < 0 || atol(argv[2]) > ANSWER_BYTES_MAX) {
        fprintf(stderr, "usage: server PORT BODY_BYTES [FILE [close]]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    closes = argc == 5 && strcmp(argv[4], "close") == 0;
    prepare(atol(argv[2]));
    if (argc > 3) count_in(argv[3]);
    int listener = listen_on(atoi(argv[1])), epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[EVENTS];
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event)) die("epoll");
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                accept_all(epoll, listener);
                continue;
            }
            if (events[i].events & EPOLLOUT) send_unsent(fd);
            if (events[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) serve(fd);
        }
    }
}
