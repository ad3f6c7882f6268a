/* A server with one thread and a given pace: server HOST PORT PACE.
   PACE is "fast", "slow" (half a millisecond of sleep before each batch of responses), or "stalls" (fast, but with stalls of 60 ms twice a
   second). */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 512, HEAD_BYTES = 4096, SLEEP_US = 500, STALL_US = 60000, STALLS_PER_S = 2 };

static void stop(int number) {
    (void)number;
    _exit(0);
}

static void stall_if_due(void) {
    static long last;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long period = now.tv_sec * STALLS_PER_S + now.tv_nsec * STALLS_PER_S / 1000000000;
    if (period != last) usleep(STALL_US);
    last = period;
}

static int respond(int client) {
    char request[HEAD_BYTES], response[512], date[64];
    if (read(client, request, sizeof request) <= 0) return -1;
    time_t now = time(NULL);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime(&now));
    int size = snprintf(response, sizeof response,
        "HTTP/1.1 200 OK\r\nServer: varying\r\nDate: %s\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!", date);
    return write(client, response, size) == size ? 0 : -1;
}

int main(int count, char **words) {
    if (count != 4) return 2;
    int slow = !strcmp(words[3], "slow"), stalls = !strcmp(words[3], "stalls");
    signal(SIGTERM, stop);
    signal(SIGPIPE, SIG_IGN);
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(atoi(words[2]))};
    inet_pton(AF_INET, words[1], &place.sin_addr);
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&place, sizeof place) || listen(listener, 128)) return 1;
    struct pollfd watched[CONNECTIONS] = {{.fd = listener, .events = POLLIN}};
    int used = 1;
    for (;;) {
        poll(watched, used, -1);
        if (slow) usleep(SLEEP_US);
        if (stalls) stall_if_due();
        if (watched[0].revents && used < CONNECTIONS) {
            int client = accept(listener, NULL, NULL);
            if (client >= 0) watched[used++] = (struct pollfd){.fd = client, .events = POLLIN};
        }
        for (int index = used - 1; index > 0; index--) {
            if (watched[index].revents && respond(watched[index].fd)) {
                close(watched[index].fd);
                watched[index] = watched[--used];
            }
        }
    }
}
