/* A server for tests that responds to HTTP/1.1 GET over persistent connections, and leaks the given amount of memory per request.

   Usage: server ADDRESS PORT [KILOBYTES] */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char *volatile last; /* volatile, because the compiler would otherwise omit the allocation */

static size_t kept_bytes;

enum { CONNECTIONS = 512, HEAD = 4096 };

static void stop(int number) {
    (void)number;
    _exit(0);
}

static int respond(int client) {
    char request[HEAD], response[512], date[64];
    ssize_t got = read(client, request, sizeof request - 1);
    if (got <= 0) return -1;
    request[got] = 0;
    if (kept_bytes && (last = malloc(kept_bytes))) memset(last, 1, kept_bytes);
    time_t now = time(NULL);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime(&now));
    int size = snprintf(response, sizeof response,
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\nServer: growing\r\nDate: %s\r\n\r\nHello, World!", date);
    return write(client, response, size) == size ? 0 : -1;
}

int main(int count, char **words) {
    if (count < 3) return 2;
    kept_bytes = count > 3 ? (size_t)atoi(words[3]) << 10 : 0;
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
        for (int at = used - 1; at > 0; at--)
            if (watched[at].revents && respond(watched[at].fd)) {
                close(watched[at].fd);
                watched[at] = watched[--used];
            }
        if (watched[0].revents && used < CONNECTIONS) {
            int client = accept(listener, NULL, NULL);
            if (client >= 0) watched[used++] = (struct pollfd){.fd = client, .events = POLLIN};
        }
    }
}
