/*
 * A server with a known capacity: a queue and one worker that takes a fixed time for each request.
 *
 *     server HOST PORT SERVICE_US
 *
 * The worker uses absolute deadlines. A request that arrives while the worker is busy is due one service time after the previous request,
 * no matter when the process actually runs. The capacity is therefore 1,000,000 / SERVICE_US requests per second, as accurate as the
 * machine's clock. If the process wakes up late, only individual responses are delayed.
 *
 * The server has one thread, which uses epoll and a timer for the head of the queue. Each read counts as one request, so clients must not
 * pipeline or send bodies.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, BACKLOG = 1024, CONNECTIONS = 65536, QUEUE = 65536 };

static const char RESPONSE[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";

struct entry {
    int fd;
    uint32_t generation;
    uint64_t due_ns;
};

static struct entry queue[QUEUE];
static uint64_t head, tail, last_due_ns;
static uint32_t generations[CONNECTIONS]; /* so that a reused descriptor never gets another connection's response */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static int listening(const char *host, int port) {
    int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, BACKLOG)) {
        perror("listen");
        exit(1);
    }
    return fd;
}

static void watch(int epoll, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void drop(int fd) {
    generations[fd]++;
    close(fd);
}

static void arm(int timer) {
    struct itimerspec when = {0}; /* all zeros turn the timer off */
    if (head != tail) {
        uint64_t due_ns = queue[head % QUEUE].due_ns;
        when.it_value.tv_sec = due_ns / 1000000000;
        when.it_value.tv_nsec = due_ns % 1000000000;
    }
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void answer_due(void) {
    uint64_t now = now_ns();
    for (; head != tail && queue[head % QUEUE].due_ns <= now; head++) {
        struct entry *done = &queue[head % QUEUE];
        if (generations[done->fd] != done->generation) continue;
        if (write(done->fd, RESPONSE, sizeof RESPONSE - 1) < 0) drop(done->fd);
    }
}

static void enqueue(int fd, uint64_t service_ns) {
    if (tail - head == QUEUE) {
        drop(fd);
        return;
    }
    uint64_t now = now_ns();
    last_due_ns = (last_due_ns > now ? last_due_ns : now) + service_ns;
    queue[tail++ % QUEUE] = (struct entry){fd, generations[fd], last_due_ns};
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: server HOST PORT SERVICE_US\n");
        return 2;
    }
    uint64_t service_ns = atol(argv[3]) * 1000ull;
    prctl(PR_SET_TIMERSLACK, 1);
    int listener = listening(argv[1], atoi(argv[2])), epoll = epoll_create1(0);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    watch(epoll, listener);
    watch(epoll, timer);
    struct epoll_event events[EVENTS];
    char request[8192];
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int index = 0; index < count; index++) {
            int fd = events[index].data.fd;
            uint64_t expirations;
            if (fd == timer) {
                if (read(timer, &expirations, sizeof expirations) < 0) continue;
            } else if (fd == listener) {
                int connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
                if (connection >= CONNECTIONS) close(connection);
                else if (connection >= 0) watch(epoll, connection);
            } else if (read(fd, request, sizeof request) <= 0) {
                drop(fd);
            } else {
                enqueue(fd, service_ns);
            }
        }
        answer_due();
        arm(timer);
    }
}
