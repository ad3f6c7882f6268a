/* A small TCP proxy that satisfies the contract or, depending on the mode, breaks it in one way.

   Usage: relay HOST PORT BACKEND_HOST BACKEND_PORT MODE

   good         relays
   drops        loses one byte in a million
   invents      sends one byte in a million twice
   late MS      delays every hundredth chunk by this many milliseconds, in either direction
   deaf         stops relaying once a connection has carried a megabyte
   renames      after a thousand chunks, changes the reason phrase and the name of the server

   With RELAY_HELD_UP=FILE in the environment, the proxy writes the actual delay of each late chunk to FILE, in nanoseconds.

   Each connection has two blocking threads, one for each direction. A late chunk therefore delays only its own direction. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 65536, MILLION = 1000000, EVERY = 100, BACKLOG = 4096 };
enum mode { GOOD, DROPS, INVENTS, LATE, DEAF, RENAMES };

static const char *const modes[] = {"good", "drops", "invents", "late", "deaf", "renames"};
static enum mode mode;
static int64_t delay_ns;
static struct sockaddr_in backend;
static atomic_ullong bytes, chunks;
static FILE *held_up;

struct pair {
    int ends[2];
    atomic_int open; /* number of open directions */
};

struct direction {
    struct pair *pair;
    int from, to;
};

/* Returns the position in this chunk of the next millionth byte, counted over all connections, or -1 if the chunk doesn't contain it. */
static ssize_t millionth(ssize_t size) {
    uint64_t before = atomic_fetch_add(&bytes, (uint64_t)size);
    uint64_t next = (before / MILLION + 1) * MILLION;
    return next <= before + (uint64_t)size ? (ssize_t)(next - before) - 1 : -1;
}

static int send_all(int to, const char *data, ssize_t size) {
    while (size > 0) {
        ssize_t sent = send(to, data, (size_t)size, MSG_NOSIGNAL);
        if (sent <= 0) return -1;
        data += sent, size -= sent;
    }
    return 0;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Sleeps for the delay. Spinning would also delay the other chunks if the proxy has only one core. Timers fire late, so the function
   returns the actual delay. */
static int64_t hold_up(void) {
    int64_t start = now_ns();
    nanosleep(&(struct timespec){delay_ns / 1000000000, delay_ns % 1000000000}, NULL);
    return now_ns() - start;
}

static int pass_on(int to, const char *data, ssize_t size) {
    if (mode == LATE && atomic_fetch_add(&chunks, 1) % EVERY == EVERY - 1) {
        int64_t held = hold_up();
        int sent = send_all(to, data, size);
        if (held_up) fprintf(held_up, "%lld\n", (long long)held);
        return sent;
    }
    if (mode == DROPS || mode == INVENTS) {
        ssize_t at = millionth(size);
        if (at >= 0) {
            if (send_all(to, data, mode == DROPS ? at : at + 1) < 0) return -1;
            ssize_t rest = mode == DROPS ? at + 1 : at;
            return send_all(to, data + rest, size - rest);
        }
    }
    return send_all(to, data, size);
}

static void rename_all(char *data, ssize_t size, const char *from, const char *to) {
    char *found = data;
    while ((found = memmem(found, (size_t)(data + size - found), from, strlen(from)))) memcpy(found, to, strlen(to));
}

static void *relay(void *argument) {
    struct direction way = *(struct direction *)argument;
    free(argument);
    prctl(PR_SET_TIMERSLACK, 1);
    char buffer[BUFFER];
    ssize_t size;
    uint64_t carried = 0;
    while ((size = recv(way.from, buffer, sizeof buffer, 0)) > 0) {
        carried += (uint64_t)size;
        if (mode == RENAMES && atomic_fetch_add(&chunks, 1) >= 1000) {
            rename_all(buffer, size, " 200 OK", " 200 KO");
            rename_all(buffer, size, ": nginx", ": ngimx");
        }
        if (mode == DEAF && carried > 1 << 20) continue;
        if (pass_on(way.to, buffer, size) < 0) break;
    }
    if (size < 0) {
        struct linger reset = {1, 0};
        setsockopt(way.to, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        shutdown(way.from, SHUT_RDWR), shutdown(way.to, SHUT_RDWR);
    } else {
        shutdown(way.to, SHUT_WR);
    }
    if (atomic_fetch_sub(&way.pair->open, 1) == 1) {
        close(way.pair->ends[0]), close(way.pair->ends[1]);
        free(way.pair);
    }
    return NULL;
}

static void start(struct pair *pair, int from, int to) {
    struct direction *way = malloc(sizeof *way);
    pthread_attr_t attributes;
    pthread_t thread;
    *way = (struct direction){pair, from, to};
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, relay, way) != 0) abort();
    pthread_attr_destroy(&attributes);
}

static struct sockaddr_in address(const char *host, const char *port) {
    struct sockaddr_in found = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    inet_pton(AF_INET, host, &found.sin_addr);
    return found;
}

int main(int count, char **words) {
    if (count < 6) return fprintf(stderr, "usage: relay HOST PORT BACKEND_HOST BACKEND_PORT MODE [MS]\n"), 2;
    while (mode < RENAMES && strcmp(modes[mode], words[5]) != 0) mode++;
    delay_ns = (count > 6 ? atoll(words[6]) : 0) * 1000000;
    backend = address(words[3], words[4]);
    signal(SIGPIPE, SIG_IGN);
    if (getenv("RELAY_HELD_UP") && (held_up = fopen(getenv("RELAY_HELD_UP"), "a"))) setvbuf(held_up, NULL, _IOLBF, 0);
    struct sockaddr_in own = address(words[1], words[2]);
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&own, sizeof own) < 0 || listen(listener, BACKLOG) < 0) return perror("listen"), 1;
    for (;;) {
        int client = accept(listener, NULL, NULL);
        if (client < 0) continue;
        int server = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(server, (struct sockaddr *)&backend, sizeof backend) < 0) {
            close(client), close(server);
            continue;
        }
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct pair *pair = malloc(sizeof *pair);
        pair->ends[0] = client, pair->ends[1] = server;
        atomic_init(&pair->open, 2);
        start(pair, client, server);
        start(pair, server, client);
    }
}
