/* A server that sleeps before it listens, and reports its own times: server PORT SLEEP_MS SLOW_MS
 *
 * For SLOW_MS after the first request that arrives while two connections are open, it takes 2 ms for each response.
 *
 * The header Own-Times contains four times, in nanoseconds of the monotonic clock: when the program began, when it began again because it
 * had executed itself, when it listened, and when it had sent its first response. The first two show how long an execution takes here.
 * The first response has no such header.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 256
#define SLOW_RESPONSE_NS 2000000L
#define HEAD "HTTP/1.1 200 OK\r\nServer: starting\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: text/plain\r\n"
#define REST "Content-Length: 13\r\n\r\nHello, World!"

static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void sleep_until(long at_ns) {
    struct timespec at = {at_ns / 1000000000L, at_ns % 1000000000L};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) {
    }
}

static int execute_again(char **words, long began_ns) {
    char began[32];
    snprintf(began, sizeof began, "%ld", began_ns);
    char *again[] = {words[0], words[1], words[2], words[3], began, NULL};
    execv("/proc/self/exe", again);
    return 1;
}

static int listen_on(int port) {
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 128) != 0) exit(1);
    return listener;
}

int main(int count, char **words) {
    long began_ns = now_ns();
    if (count == 4) return execute_again(words, began_ns);
    if (count != 5) return 2;
    long slow_until_ns = 0;
    int yes = 1, open = 0, responded = 0;
    struct pollfd polled[CONNECTIONS_MAX + 1];
    char received[4096], response[512] = HEAD REST;

    prctl(PR_SET_TIMERSLACK, 1UL);
    sleep_until(began_ns + atol(words[2]) * 1000000L);
    int listener = listen_on(atoi(words[1]));
    long listened_ns = now_ns();

    polled[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (;;) {
        poll(polled, 1 + open, -1);
        for (int index = open; index >= 1; index--) {
            if (!polled[index].revents) continue;
            if (read(polled[index].fd, received, sizeof received) <= 0) {
                close(polled[index].fd);
                polled[index] = polled[open--];
                continue;
            }
            if (open >= 2 && slow_until_ns == 0) slow_until_ns = now_ns() + atol(words[3]) * 1000000L;
            if (now_ns() < slow_until_ns) sleep_until(now_ns() + SLOW_RESPONSE_NS);
            if (write(polled[index].fd, response, strlen(response)) < 0) continue;
            if (!responded++) {
                const char *form = HEAD "Own-Times: %s %ld %ld %ld\r\n" REST;
                snprintf(response, sizeof response, form, words[4], began_ns, listened_ns, now_ns());
            }
        }
        if (polled[0].revents && open < CONNECTIONS_MAX) {
            int accepted = accept(listener, NULL, NULL);
            setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            polled[++open] = (struct pollfd){.fd = accepted, .events = POLLIN};
        }
    }
}
