// A minimal HTTP/1.1 server with one thread per connection. Usage: ./server HOST PORT
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BODY "Hello, World!"
#define HEAD_MAX 16384

static int has(const char *head, const char *field) { return strcasestr(head, field) != NULL; }

// Respond to one request. Return whether the connection stays open: this server closes it instead of reading a body.
static int respond(int fd, const char *head) {
    char method[16], path[1024], date[64], response[512];
    if (sscanf(head, "%15s %1023s", method, path) != 2) return 0;
    int found = strcmp(path, "/") == 0;
    int keep = !has(head, "\r\nConnection: close") && !has(head, "\r\nContent-Length:") && !has(head, "\r\nTransfer-Encoding:");
    const char *body = !found || strcmp(method, "HEAD") == 0 ? "" : BODY;
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &utc));
    int length = snprintf(response, sizeof response,
        "HTTP/1.1 %s\r\nServer: NAME\r\nDate: %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n%s\r\n%s",
        found ? "200 OK" : "404 Not Found", date, found ? strlen(BODY) : 0, keep ? "" : "Connection: close\r\n", body);
    return send(fd, response, length, MSG_NOSIGNAL) == length && keep;
}

static void *serve(void *argument) {
    int fd = (int)(intptr_t)argument, keep = 1;
    char buffer[HEAD_MAX + 1];
    size_t filled = 0;
    ssize_t count;
    while (keep && filled < HEAD_MAX && (count = read(fd, buffer + filled, HEAD_MAX - filled)) > 0) {
        char *start = buffer, *end;
        filled += count;
        // Several requests may arrive together, and one may arrive in parts.
        while (keep && (end = memmem(start, filled, "\r\n\r\n", 4)) != NULL) {
            *end = '\0';
            keep = respond(fd, start);
            filled -= end + 4 - start;
            start = end + 4;
        }
        memmove(buffer, start, filled);
    }
    close(fd);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s HOST PORT\n", argv[0]);
        return 2;
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
    inet_pton(AF_INET, argv[1], &address.sin_addr);
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) {
        perror("listen");
        return 1;
    }
    for (;;) {
        pthread_t thread;
        int fd = accept(listener, NULL, NULL);
        if (fd < 0) continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) == 0) pthread_detach(thread);
        else close(fd);
    }
}
