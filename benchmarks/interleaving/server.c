/*
 * A server with a known cost per request. It answers all requests alike, after a loop with a given number of steps.
 *
 *     server HOST PORT STEPS      serves
 *     server --calibrate STEPS    prints the minimum CPU time of that loop over many tries, in nanoseconds
 *
 * The server has one thread and uses level-triggered epoll. Each read counts as one request, so clients must not pipeline. The loop is a
 * chain of dependent multiplications that doesn't touch memory, so it always costs the same.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, TRIES = 2000, BACKLOG = 1024 };

static const char RESPONSE[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";

static volatile uint64_t sink;

static void busy(long steps) {
    uint64_t value = 88172645463325252u;
    for (long step = 0; step < steps; step++) value = value * 6364136223846793005u + 1442695040888963407u;
    sink = value;
}

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

/* Subtracts the time of a loop from that of a loop twice as long, to exclude the cost of reading the clock. */
static int calibrate(long steps) {
    double least[2] = {1e18, 1e18};
    for (int try = 0; try < TRIES; try++)
        for (int length = 0; length < 2; length++) {
            double begin = cpu_ns();
            busy(steps * (length + 1));
            double took = cpu_ns() - begin;
            if (took < least[length]) least[length] = took;
        }
    printf("%.1f\n", least[1] - least[0]);
    return 0;
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

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "--calibrate")) return calibrate(atol(argv[2]));
    if (argc != 4) {
        fprintf(stderr, "usage: server HOST PORT STEPS | server --calibrate STEPS\n");
        return 2;
    }
    long steps = atol(argv[3]);
    int listener = listening(argv[1], atoi(argv[2])), epoll = epoll_create1(0);
    watch(epoll, listener);
    struct epoll_event events[EVENTS];
    char request[8192];
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int index = 0; index < count; index++) {
            int fd = events[index].data.fd;
            if (fd == listener) {
                int connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
                if (connection >= 0) watch(epoll, connection);
            } else if (read(fd, request, sizeof request) <= 0) {
                close(fd);
            } else {
                busy(steps);
                if (write(fd, RESPONSE, sizeof RESPONSE - 1) < 0) close(fd);
            }
        }
    }
}
