/* Sends and receives the server's bytes: plain, or with -DTLS (and -lssl -lcrypto) through OpenSSL with TLS 1.3. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

enum { FDS_MAX = 65536 };

#ifdef TLS
#include <openssl/err.h>
#include <openssl/ssl.h>

static SSL_CTX *tls;
static SSL *sessions[FDS_MAX];

/* nginx uses the same cipher. With read_ahead, one system call reads a whole record. Session tickets are off, because keep-alive
 * connections don't need them. */
static void set_up_transport(const char *folder) {
    tls = SSL_CTX_new(TLS_server_method());
    if (!tls || !folder || chdir(folder) || !SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION) ||
        !SSL_CTX_set_ciphersuites(tls, "TLS_AES_128_GCM_SHA256") || !SSL_CTX_set_num_tickets(tls, 0) ||
        SSL_CTX_use_certificate_file(tls, "certificate.pem", SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls, "key.pem", SSL_FILETYPE_PEM) != 1) {
        ERR_print_errors_fp(stderr);
        exit(1);
    }
    SSL_CTX_set_read_ahead(tls, 1);
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

static void open_transport(int fd) {
    SSL *session = sessions[fd] = SSL_new(tls);
    if (!session || !SSL_set_fd(session, fd)) exit(1);
    SSL_set_accept_state(session);
}

static void close_transport(int fd) {
    SSL_free(sessions[fd]);
    ERR_clear_error();
    close(fd);
}

/* Converts a result of OpenSSL to one of recv: -1 with EAGAIN if the call would block, or 0 at the end of the stream or after a failure. */
static ssize_t as_recv(int fd, int result) {
    if (result > 0) return result;
    int error = SSL_get_error(sessions[fd], result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return 0;
    errno = EAGAIN;
    return -1;
}

static ssize_t receive(int fd, char *buffer, size_t length) {
    return as_recv(fd, SSL_read(sessions[fd], buffer, length));
}

static ssize_t transmit(int fd, const char *bytes, size_t length, int is_last) {
    (void)is_last;
    return as_recv(fd, SSL_write(sessions[fd], bytes, length));
}

/* A read returns at most one record, and the session may have buffered more. */
static int may_have_more(int fd, int is_full) {
    return is_full || SSL_has_pending(sessions[fd]);
}
#else
static void set_up_transport(const char *folder) {
    if (!folder) return;
    fprintf(stderr, "compiled without TLS\n");
    exit(2);
}

static void open_transport(int fd) {
    (void)fd;
}

static void close_transport(int fd) {
    close(fd);
}

static ssize_t receive(int fd, char *buffer, size_t length) {
    return recv(fd, buffer, length, 0);
}

/* The last bytes are sent in the same packet as the FIN. */
static ssize_t transmit(int fd, const char *bytes, size_t length, int is_last) {
    return send(fd, bytes, length, MSG_NOSIGNAL | (is_last ? MSG_MORE : 0));
}

static int may_have_more(int fd, int is_full) {
    (void)fd;
    return is_full;
}
#endif
