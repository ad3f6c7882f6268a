/* HTTP over bare io_uring: one thread, one ring, and one system call per iteration of the loop, however many sockets are ready.
 *
 * There is no parser and no router: a request ends at its empty line, and every path and method gets the same answer.
 * The server remembers only the last four bytes received, so a request may arrive split anywhere, or together with others.
 *
 * Accept and receive are multishot: they are requested once and complete many times. The kernel picks the receive buffers from a
 * shared ring, so idle connections hold none. A connection has at most one send in flight. The next send answers the requests that
 * arrive in the meantime. Requires Linux 6.1 or newer (IORING_SETUP_DEFER_TASKRUN).
 *
 * Usage: http_io_uring HOST PORT
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SUBMISSIONS 1024
#define COMPLETIONS 8192
#define BUFFERS 1024 /* a power of two */
#define BUFFER_SIZE 4096
#define BUFFER_GROUP 0
#define BATCH 64 /* maximum number of answers in one send */

#define BEFORE_DATE "HTTP/1.1 200 OK\r\nServer: io_uring\r\nDate: "
#define DATE_LENGTH 29 /* length of an IMF-fixdate, RFC 9110, section 5.6.7 */
#define AFTER_DATE "\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!"
#define ANSWER_LENGTH (sizeof BEFORE_DATE - 1 + DATE_LENGTH + sizeof AFTER_DATE - 1)

#define REQUEST_END 0x0d0a0d0au /* CR LF CR LF */

/* The answers of one second. They never change, because the kernel may still be reading them. The last user frees them. */
struct answers {
    uint32_t users;
    char bytes[BATCH * ANSWER_LENGTH];
};

struct connection {
    int fd;
    uint32_t window;        /* the last four bytes received */
    uint64_t owed;          /* answers not yet begun */
    size_t sending;         /* bytes in flight */
    struct answers *source; /* the block that contains those bytes */
    bool receiving;         /* the multishot receive is armed */
    bool ended;             /* the client won't send any more, but may still be waiting for answers */
    bool broken;
};

/* The operation that completed. It is stored in the low bits of the connection's address, which are otherwise zero. */
enum operation { ACCEPT, CLOCK, RECEIVE, SEND, OPERATION_MASK = 3 };

static struct io_uring ring;
static struct io_uring_buf_ring *buffer_ring;
static char buffers[BUFFERS][BUFFER_SIZE];
static struct answers *current;
static int listen_fd;

static void die(const char *what, int error)
{
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(1);
}

static void release(struct answers *answers)
{
    if (--answers->users == 0)
        free(answers);
}

static void renew_answers(void)
{
    char answer[ANSWER_LENGTH + 1], date[DATE_LENGTH + 1];
    struct tm utc;
    time_t now = time(NULL);
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    snprintf(answer, sizeof answer, "%s%s%s", BEFORE_DATE, date, AFTER_DATE);

    struct answers *fresh = malloc(sizeof *fresh);
    if (!fresh)
        return; /* an old date is better than no answer */
    fresh->users = 1;
    for (size_t i = 0; i < BATCH; i++)
        memcpy(fresh->bytes + i * ANSWER_LENGTH, answer, ANSWER_LENGTH);
    if (current)
        release(current);
    current = fresh;
}

static struct io_uring_sqe *new_entry(void)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    while (!entry) { /* the queue is full: hand it to the kernel, which empties it */
        io_uring_submit(&ring);
        entry = io_uring_get_sqe(&ring);
    }
    return entry;
}

static void identify(struct io_uring_sqe *entry, struct connection *c, enum operation operation)
{
    io_uring_sqe_set_data64(entry, (uintptr_t)c | operation);
}

static void accept_always(void)
{
    struct io_uring_sqe *entry = new_entry();
    io_uring_prep_multishot_accept(entry, listen_fd, NULL, NULL, SOCK_CLOEXEC);
    identify(entry, NULL, ACCEPT);
}

static void wait_for_next_second(void)
{
    static struct __kernel_timespec next;
    struct io_uring_sqe *entry = new_entry();
    next.tv_sec = time(NULL) + 1;
    io_uring_prep_timeout(entry, &next, 0, IORING_TIMEOUT_ABS | IORING_TIMEOUT_REALTIME);
    identify(entry, NULL, CLOCK);
}

static void receive_always(struct connection *c)
{
    struct io_uring_sqe *entry = new_entry();
    io_uring_prep_recv_multishot(entry, c->fd, NULL, 0, 0);
    entry->flags |= IOSQE_BUFFER_SELECT;
    entry->buf_group = BUFFER_GROUP;
    identify(entry, c, RECEIVE);
    c->receiving = true;
}

static void send_owed(struct connection *c)
{
    uint64_t count = c->owed < BATCH ? c->owed : BATCH;
    struct io_uring_sqe *entry = new_entry();
    c->owed -= count;
    c->sending = count * ANSWER_LENGTH;
    c->source = current;
    c->source->users++;
    /* MSG_WAITALL: the kernel sends the rest itself when the socket's buffer has room again */
    io_uring_prep_send(entry, c->fd, c->source->bytes, c->sending, MSG_NOSIGNAL | MSG_WAITALL);
    identify(entry, c, SEND);
}

/* Starts a connection's next operations after one has completed, or closes the connection if it is finished. */
static void go_on(struct connection *c)
{
    if (c->broken)
        shutdown(c->fd, SHUT_RDWR); /* makes the operations in flight complete */
    else if (c->owed && !c->sending)
        send_owed(c);
    if (!c->broken && !c->ended && !c->receiving)
        receive_always(c); /* the kernel disarmed it: no buffer was free, or it was other connections' turn */
    if (!c->receiving && !c->sending) {
        close(c->fd);
        free(c);
    }
}

static void on_accept(const struct io_uring_cqe *completion)
{
    if (!(completion->flags & IORING_CQE_F_MORE))
        accept_always();
    if (completion->res < 0)
        return;
    struct connection *c = calloc(1, sizeof *c);
    if (!c) {
        close(completion->res);
        return;
    }
    c->fd = completion->res;
    receive_always(c);
}

static void count_requests(struct connection *c, const char *bytes, size_t length)
{
    uint32_t window = c->window;
    for (size_t i = 0; i < length; i++) {
        window = window << 8 | (unsigned char)bytes[i];
        c->owed += window == REQUEST_END;
    }
    c->window = window;
}

static void give_buffer(uint16_t id, int offset)
{
    io_uring_buf_ring_add(buffer_ring, buffers[id], BUFFER_SIZE, id, io_uring_buf_ring_mask(BUFFERS), offset);
}

static void on_receive(struct connection *c, const struct io_uring_cqe *completion)
{
    c->receiving = completion->flags & IORING_CQE_F_MORE;
    if (completion->flags & IORING_CQE_F_BUFFER) {
        uint16_t id = completion->flags >> IORING_CQE_BUFFER_SHIFT;
        if (completion->res > 0)
            count_requests(c, buffers[id], (size_t)completion->res);
        give_buffer(id, 0);
        io_uring_buf_ring_advance(buffer_ring, 1);
    }
    if (completion->res == 0)
        c->ended = true;
    else if (completion->res < 0 && completion->res != -ENOBUFS)
        c->broken = true;
    go_on(c);
}

static void on_send(struct connection *c, const struct io_uring_cqe *completion)
{
    if (completion->res < 0 || (size_t)completion->res < c->sending)
        c->broken = true;
    c->sending = 0;
    release(c->source);
    go_on(c);
}

static void on_completion(const struct io_uring_cqe *completion)
{
    struct connection *c = (struct connection *)(uintptr_t)(completion->user_data & ~(uint64_t)OPERATION_MASK);
    switch (completion->user_data & OPERATION_MASK) {
    case ACCEPT:
        on_accept(completion);
        break;
    case CLOCK:
        renew_answers();
        wait_for_next_second();
        break;
    case RECEIVE:
        on_receive(c, completion);
        break;
    case SEND:
        on_send(c, completion);
        break;
    }
}

static void run(void)
{
    for (;;) {
        struct io_uring_cqe *completion;
        unsigned head, count = 0;
        io_uring_submit_and_wait(&ring, 1);
        io_uring_for_each_cqe(&ring, head, completion) {
            on_completion(completion);
            count++;
        }
        io_uring_cq_advance(&ring, count);
    }
}

static int open_listener(const char *host, const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1) {
        fprintf(stderr, "%s is not an IPv4 address\n", host);
        exit(2);
    }
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die("socket", errno);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* inherited by accepted sockets */
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
        die("bind", errno);
    if (listen(fd, SOMAXCONN) < 0)
        die("listen", errno);
    return fd;
}

static void open_ring(void)
{
    struct io_uring_params params = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
        .cq_entries = COMPLETIONS,
    };
    int result = io_uring_queue_init_params(SUBMISSIONS, &ring, &params);
    if (result == -EPERM || result == -ENOSYS)
        die("io_uring is forbidden here: allow it with sysctl kernel.io_uring_disabled=0 or a container's seccomp profile", -result);
    if (result == -EINVAL)
        die("this kernel's io_uring is too old: Linux 6.1 or newer is needed", -result);
    if (result < 0)
        die("io_uring_setup", -result);
}

static void open_buffers(void)
{
    struct io_uring_buf_reg registration = {.ring_entries = BUFFERS, .bgid = BUFFER_GROUP};
    buffer_ring = mmap(NULL, BUFFERS * sizeof(struct io_uring_buf), PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    if (buffer_ring == MAP_FAILED)
        die("mmap", errno);
    registration.ring_addr = (uintptr_t)buffer_ring;
    int result = io_uring_register_buf_ring(&ring, &registration, 0);
    if (result < 0)
        die("io_uring_register_buf_ring", -result);
    io_uring_buf_ring_init(buffer_ring);
    for (int i = 0; i < BUFFERS; i++)
        give_buffer((uint16_t)i, i);
    io_uring_buf_ring_advance(buffer_ring, BUFFERS);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: http_io_uring HOST PORT\n");
        return 2;
    }
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);

    open_ring();
    open_buffers();
    renew_answers();
    if (!current)
        die("malloc", ENOMEM);
    listen_fd = open_listener(argv[1], argv[2]);
    accept_always();
    wait_for_next_second();
    run();
}
