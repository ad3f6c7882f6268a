/*
 * A server with a known cost per request. It sends the same answer to every request, after a loop of STEPS steps and then a wait of NS
 * nanoseconds. With MB, it also reads 500 random places in that many megabytes of memory.
 *
 *     server HOST PORT STEPS NS [MB]
 *
 * The server has one thread and uses level-triggered epoll. Each read counts as one request, so clients must not pipeline. The loop is a
 * chain of dependent multiplications that doesn't touch memory, so its cost depends only on the speed of the CPU. The wait keeps the CPU
 * busy, too, but its duration doesn't depend on the speed of the CPU.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, BACKLOG = 1024, READS = 500 };

static const char RESPONSE[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";

static volatile uint64_t sink;

static void busy(long steps) {
    uint64_t value = 88172645463325252u;
    for (long step = 0; step < steps; step++) value = value * 6364136223846793005u + 1442695040888963407u;
    sink = value;
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static void read_places(const uint64_t *memory, size_t words) {
    static uint64_t state = 88172645463325252u;
    uint64_t sum = 0;
    for (int read = 0; read < READS; read++) sum += memory[next_random(&state) % words];
    sink = sum;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void wait_ns(int64_t ns) {
    for (int64_t end = now_ns() + ns; now_ns() < end;) continue;
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
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: server HOST PORT STEPS NS [MB]\n");
        return 2;
    }
    long steps = atol(argv[3]), ns = atol(argv[4]);
    size_t words = argc == 6 ? atol(argv[5]) * 1000000 / sizeof(uint64_t) : 0;
    uint64_t *memory = words ? malloc(words * sizeof(uint64_t)) : NULL;
    for (size_t word = 0; word < words; word++) memory[word] = word;
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
                if (words) read_places(memory, words);
                if (ns) wait_ns(ns);
                if (write(fd, RESPONSE, sizeof RESPONSE - 1) < 0) close(fd);
            }
        }
    }
}
