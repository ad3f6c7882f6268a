/* The bare io_uring client. It has one thread, multishot receives into a ring of buffers, and no completions for sends. See client.h. */
#include "client.h"

#include <liburing.h>

enum { ENTRIES = 1024, BUFFERS = 1024, BUFFER_BYTES = 16 * 1024, GROUP = 0 };

static struct io_uring ring;
static struct io_uring_buf_ring *buffers;
static char *memory;

static void set_up(void) {
    struct io_uring_params params = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE, .cq_entries = 16 * ENTRIES};
    int failed = io_uring_queue_init_params(ENTRIES, &ring, &params);
    if (failed) {
        errno = -failed;
        die("io_uring");
    }
    memory = malloc((size_t)BUFFERS * BUFFER_BYTES);
    if (posix_memalign((void **)&buffers, 4096, BUFFERS * sizeof(struct io_uring_buf)) || !memory) die("malloc");
    struct io_uring_buf_reg registration = {.ring_addr = (unsigned long)buffers, .ring_entries = BUFFERS, .bgid = GROUP};
    if (io_uring_register_buf_ring(&ring, &registration, 0)) die("io_uring_register_buf_ring");
    io_uring_buf_ring_init(buffers);
    for (int i = 0; i < BUFFERS; i++)
        io_uring_buf_ring_add(buffers, memory + (size_t)i * BUFFER_BYTES, BUFFER_BYTES, i, BUFFERS - 1, i);
    io_uring_buf_ring_advance(buffers, BUFFERS);
}

static struct io_uring_sqe *next_sqe(void) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    if (sqe) return sqe;
    io_uring_submit(&ring);
    return io_uring_get_sqe(&ring);
}

static void receive(int index) {
    struct io_uring_sqe *sqe = next_sqe();
    io_uring_prep_recv_multishot(sqe, index, NULL, 0, 0);
    sqe->flags |= IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
    sqe->buf_group = GROUP;
    sqe->user_data = index;
}

static void send_requests(int index) {
    struct io_uring_sqe *sqe = next_sqe();
    io_uring_prep_send(sqe, index, requests, requests_bytes, MSG_NOSIGNAL | MSG_WAITALL);
    sqe->flags |= IOSQE_FIXED_FILE | IOSQE_CQE_SKIP_SUCCESS;
    sqe->user_data = index;
}

int main(int argc, char **argv) {
    start(argc, argv);
    set_up();
    int *fds = calloc(options.connections, sizeof *fds);
    size_t *pending = calloc(options.connections, sizeof *pending);
    if (!fds || !pending) die("calloc");
    for (int i = 0; i < options.connections; i++) fds[i] = connect_one();
    if (io_uring_register_files(&ring, fds, options.connections)) die("io_uring_register_files");
    double begin_s = now_s(), begin_cpu_s = cpu_s(), end_s = begin_s + options.duration_s;
    for (int i = 0; i < options.connections; i++) {
        receive(i);
        send_requests(i);
    }
    unsigned long long bytes = 0;
    const size_t whole = options.response_bytes * options.pipeline;
    while (now_s() < end_s) {
        struct __kernel_timespec timeout = {.tv_nsec = 100000000};
        struct io_uring_cqe *cqe;
        io_uring_submit_and_wait_timeout(&ring, &cqe, 1, &timeout, NULL);
        unsigned head, seen = 0, back = 0;
        io_uring_for_each_cqe(&ring, head, cqe) {
            seen++;
            int index = cqe->user_data;
            if (cqe->flags & IORING_CQE_F_BUFFER) {
                int id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
                io_uring_buf_ring_add(buffers, memory + (size_t)id * BUFFER_BYTES, BUFFER_BYTES, id, BUFFERS - 1, back++);
            }
            if (cqe->res <= 0 && cqe->res != -ENOBUFS) {
                errno = -cqe->res;
                die("recv");
            }
            if (cqe->res > 0) {
                bytes += cqe->res;
                pending[index] += cqe->res;
                if (pending[index] >= whole) {
                    pending[index] -= whole;
                    send_requests(index);
                }
            }
            if (!(cqe->flags & IORING_CQE_F_MORE)) receive(index);
        }
        io_uring_buf_ring_advance(buffers, back);
        io_uring_cq_advance(&ring, seen);
    }
    report(bytes, now_s() - begin_s, cpu_s() - begin_cpu_s);
}
