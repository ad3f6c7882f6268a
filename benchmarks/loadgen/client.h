/* Code that the two bare clients share. It parses arguments, connects, counts and reads the clock.
 *
 * The bare clients show the maximum throughput that a load generator could reach. They send a fixed request and count bytes, but don't
 * parse, time or check responses. No correct load generator that uses the same system calls can be faster. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct {
    int port, connections, pipeline;
    double duration_s;
    size_t response_bytes;
} options;

static char *requests;
static size_t requests_bytes;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double cpu_s(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int connect_one(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(options.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0) die("socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* Learns the length of a response. All responses of the server have the same length. */
static void learn_response(void) {
    char buffer[65536];
    int fd = connect_one();
    if (send(fd, requests, requests_bytes / options.pipeline, 0) < 0) die("send");
    size_t length = 0;
    char *end = NULL;
    while (!end) {
        ssize_t count = recv(fd, buffer + length, sizeof buffer - 1 - length, 0);
        if (count <= 0) die("recv");
        length += count;
        buffer[length] = 0;
        end = strstr(buffer, "\r\n\r\n");
    }
    char *field = strcasestr(buffer, "content-length:");
    options.response_bytes = end + 4 - buffer + (field ? strtoul(field + 15, NULL, 10) : 0);
    close(fd);
}

static void start(int argc, char **argv) {
    static const char one[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    if (argc != 5) {
        fprintf(stderr, "usage: %s PORT CONNECTIONS PIPELINE SECONDS\n", argv[0]);
        exit(2);
    }
    options.port = atoi(argv[1]);
    options.connections = atoi(argv[2]);
    options.pipeline = atoi(argv[3]);
    options.duration_s = atof(argv[4]);
    if (options.connections < 1 || options.connections > 16384 || options.pipeline < 1 || options.pipeline > 1024) exit(2);
    requests_bytes = (sizeof one - 1) * options.pipeline;
    requests = malloc(requests_bytes);
    if (!requests) die("malloc");
    for (int i = 0; i < options.pipeline; i++) memcpy(requests + i * (sizeof one - 1), one, sizeof one - 1);
    learn_response();
}

static void report(unsigned long long bytes, double elapsed_s, double used_s) {
    double responses = (double)bytes / options.response_bytes;
    printf("{\"throughput_rps\": %.1f, \"cpu_s\": %.4f, \"requests\": %.0f}\n", responses / elapsed_s, used_s, responses);
}
