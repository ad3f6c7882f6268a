/* A server whose function burn uses a set share of the server's CPU time: server PORT SHARE. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;
static double burned_s;

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void burn(void) {
    for (unsigned i = 10000 + sink % 20000; i > 0; i--) sink = sink * 1664525 + 1013904223;
    sink >>= 4;
}

/* Burn until the share is right. The kernel's clock is read outside of burn. */
__attribute__((noinline)) static void pace(double share) {
    double begin_s = cpu_s();
    while (burned_s < share * begin_s) {
        burn();
        double end_s = cpu_s();
        burned_s += end_s - begin_s;
        begin_s = end_s;
    }
}

int main(int argc, char **argv) {
    static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0), poll = epoll_create1(0);
    if (argc < 3) return 2;
    signal(SIGPIPE, SIG_IGN);
    address.sin_port = htons((unsigned short)atoi(argv[1]));
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 128)) return 1;
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN, .data.fd = listener});
    for (struct epoll_event event;;) {
        char request[8192];
        if (epoll_wait(poll, &event, 1, -1) < 1) continue; /* the harness has frozen and thawed the server */
        if (event.data.fd == listener) {
            int client = accept(listener, NULL, NULL);
            setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            epoll_ctl(poll, EPOLL_CTL_ADD, client, &(struct epoll_event){.events = EPOLLIN, .data.fd = client});
            continue;
        }
        ssize_t length = read(event.data.fd, request, sizeof request - 1);
        if (length <= 0) {
            close(event.data.fd);
            continue;
        }
        request[length] = 0;
        for (char *end = request; (end = strstr(end, "\r\n\r\n")); end += 4) {
            pace(atof(argv[2]));
            if (write(event.data.fd, response, sizeof response - 1) < 0) break;
        }
    }
}
