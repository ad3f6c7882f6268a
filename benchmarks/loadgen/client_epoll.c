/* The bare epoll client. It has one thread, uses edge-triggered epoll and calls send once for each response. See client.h. */
#include "client.h"

#include <fcntl.h>
#include <sys/epoll.h>

enum { EVENTS = 256, READ_BYTES = 128 * 1024 };

int main(int argc, char **argv) {
    static char buffer[READ_BYTES];
    start(argc, argv);
    struct connection { int fd; size_t pending; } *connections = calloc(options.connections, sizeof *connections);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!connections || epoll < 0) die("epoll");
    for (int i = 0; i < options.connections; i++) {
        connections[i].fd = connect_one();
        fcntl(connections[i].fd, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = i};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event)) die("epoll_ctl");
    }
    double begin_s = now_s(), begin_cpu_s = cpu_s(), end_s = begin_s + options.duration_s;
    for (int i = 0; i < options.connections; i++) send(connections[i].fd, requests, requests_bytes, MSG_NOSIGNAL);
    unsigned long long bytes = 0;
    struct epoll_event events[EVENTS];
    const size_t whole = options.response_bytes * options.pipeline;
    while (now_s() < end_s) {
        int count = epoll_wait(epoll, events, EVENTS, 100);
        for (int i = 0; i < count; i++) {
            struct connection *connection = &connections[events[i].data.u32];
            ssize_t length;
            do {
                length = recv(connection->fd, buffer, sizeof buffer, 0);
                if (length == 0 || (length < 0 && errno != EAGAIN)) die("recv");
                if (length < 0) break;
                bytes += length;
                connection->pending += length;
                if (connection->pending >= whole) {
                    connection->pending -= whole;
                    if (send(connection->fd, requests, requests_bytes, MSG_NOSIGNAL) < 0) die("send");
                }
            } while ((size_t)length == sizeof buffer);
        }
    }
    report(bytes, now_s() - begin_s, cpu_s() - begin_cpu_s);
}
