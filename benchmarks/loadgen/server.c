/* The server that load generators are measured against. It uses edge-triggered epoll and a fixed response.
 *
 * It does as little as possible, so that the load generator is the limit. It recognizes a request only by the empty line at its end.
 * Requests that arrive together get their responses together.
 *
 * With one thread, it answers requests in order of arrival. With `-u`, a second thread handles every EVERY-th connection. The first thread
 * then has many connections and the second has few, so their response times differ a lot, as with unevenly loaded workers.
 *
 * With -DTLS (and -lssl -lcrypto), it uses TLS.
 *
 * Usage: server [OPTIONS] PORT BODY_BYTES (port 0: any). It prints the port that it listens on.
 *   -f FILE     keep the number of requests in FILE: an unsigned 64-bit integer for each thread, 64 bytes apart
 *   -c          close each connection after its first response, with `Connection: close`
 *   -l          all requests are as long as the first one, so count bytes instead of comparing or searching them
 *   -u EVERY    give every EVERY-th connection to a second thread
 *   -w US       work for this many microseconds before each response
 *   -t FOLDER   folder of certificate.pem and key.pem, for TLS */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "transport.h"

enum { EVENTS = 256, READ_BYTES = 64 * 1024, ANSWERS_MAX = 64, LAST_BYTES_MAX = 4096, ANSWER_BYTES_MAX = 1 << 22 };
enum { THREADS_MAX = 2, COUNTER_BYTES = 64, COUNTERS_BYTES = THREADS_MAX * COUNTER_BYTES };

/* For each descriptor: how much of an empty line has been received, and how many bytes of responses are still to be sent. */
static unsigned char seen[FDS_MAX];
static size_t unsent[FDS_MAX];
static char *answers;
static size_t answer_length, answers_in_buffer;
/* For each descriptor: how much of an unfinished request has been received, if all requests are equally long. */
static size_t partial[FDS_MAX], request_length;
static int closes, equally_long;
static long every, work_us;

/* Each thread's counter has its own cache line. */
static char counters_here[COUNTERS_BYTES] __attribute__((aligned(COUNTER_BYTES))), *counters = counters_here;
static __thread uint64_t *requests;
static int epolls[THREADS_MAX], listener = -1;

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
    if (fd < 0 || ftruncate(fd, COUNTERS_BYTES)) die(path);
    counters = mmap(NULL, COUNTERS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counters == MAP_FAILED) die(path);
    close(fd);
}

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static void work(size_t responses) {
    double end_us = now_us() + (double)responses * work_us;
    while (now_us() < end_us);
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

/* A client nearly always repeats its last request, so comparing the bytes with that request usually makes a search unnecessary. */
static size_t count_requests(int fd, const char *bytes, size_t length) {
    static __thread char last[LAST_BYTES_MAX];
    static __thread size_t last_length, last_count;
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

/* Different requests cost as little as repeated ones. */
static size_t count_by_length(int fd, const char *bytes, size_t length) {
    if (!request_length) {
        const char *end = memmem(bytes, length, "\r\n\r\n", 4);
        if (!end) {
            fprintf(stderr, "the first request arrived in parts\n");
            exit(1);
        }
        request_length = end - bytes + 4;
    }
    partial[fd] += length;
    size_t count = partial[fd] / request_length;
    partial[fd] %= request_length;
    return count;
}

/* The last response of a connection is sent in the same packet as the FIN, so the server always closes first. */
static void send_unsent(int fd) {
    while (unsent[fd]) {
        size_t chunk = unsent[fd] % (answer_length * answers_in_buffer);
        if (chunk == 0) chunk = answer_length * answers_in_buffer;
        ssize_t sent = transmit(fd, answers + answer_length * answers_in_buffer - chunk, chunk, closes);
        if (sent <= 0) return;
        unsent[fd] -= sent;
    }
}

static void serve(int fd) {
    static __thread char buffer[READ_BYTES];
    for (;;) {
        ssize_t length = receive(fd, buffer, sizeof buffer);
        if (length == 0 || (length < 0 && errno != EAGAIN)) {
            close_transport(fd);
            return;
        }
        if (length < 0) return;
        size_t count = equally_long ? count_by_length(fd, buffer, length) : count_requests(fd, buffer, length);
        if (work_us && count) work(count);
        *requests += count;
        unsent[fd] += count * answer_length;
        send_unsent(fd);
        if (closes && count) {
            close_transport(fd);
            return;
        }
        if (!may_have_more(fd, (size_t)length == sizeof buffer)) return;
    }
}

static void accept_all(void) {
    static long accepted;
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
        if (fd < 0) return;
        if (fd >= FDS_MAX) {
            close(fd);
            continue;
        }
        seen[fd] = 0;
        partial[fd] = unsent[fd] = 0;
        open_transport(fd);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.fd = fd};
        int second = every && ++accepted % every == 0;
        if (epoll_ctl(epolls[second], EPOLL_CTL_ADD, fd, &event)) die("epoll_ctl");
    }
}

static int listen_on(int port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0) die("socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(fd, (struct sockaddr *)&address, length) || listen(fd, 4096)) die("listen");
    if (getsockname(fd, (struct sockaddr *)&address, &length)) die("getsockname");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

/* The event loop of one thread. Only the first thread accepts connections. */
static void *serve_all(void *number) {
    struct epoll_event events[EVENTS];
    int epoll = epolls[(intptr_t)number];
    requests = (uint64_t *)(counters + (intptr_t)number * COUNTER_BYTES);
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                accept_all();
                continue;
            }
            if (events[i].events & EPOLLOUT) send_unsent(fd);
            if (events[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) serve(fd);
        }
    }
    return NULL;
}

static void usage(void) {
    fprintf(stderr, "usage: server [-f FILE] [-c] [-l] [-u EVERY] [-w US] [-t FOLDER] PORT BODY_BYTES\n");
    exit(2);
}

int main(int argc, char **argv) {
    const char *file = NULL, *folder = NULL;
    int option;
    while ((option = getopt(argc, argv, "f:clu:w:t:")) != -1) {
        if (option == 'f') file = optarg;
        else if (option == 'c') closes = 1;
        else if (option == 'l') equally_long = 1;
        else if (option == 'u') every = atol(optarg);
        else if (option == 'w') work_us = atol(optarg);
        else if (option == 't') folder = optarg;
        else usage();
    }
    if (argc - optind != 2 || every < 0 || work_us < 0) usage();
    long body_bytes = atol(argv[optind + 1]);
    if (body_bytes < 0 || body_bytes > ANSWER_BYTES_MAX) usage();
    signal(SIGPIPE, SIG_IGN);
    prepare(body_bytes);
    if (file) count_in(file);
    set_up_transport(folder);
    for (int i = 0; i < THREADS_MAX; i++)
        if ((epolls[i] = epoll_create1(EPOLL_CLOEXEC)) < 0) die("epoll_create1");
    listener = listen_on(atoi(argv[optind]));
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    if (epoll_ctl(epolls[0], EPOLL_CTL_ADD, listener, &event)) die("epoll_ctl");
    pthread_t second;
    if (every && pthread_create(&second, NULL, serve_all, (void *)(intptr_t)1)) die("pthread_create");
    serve_all((void *)(intptr_t)0);
}
