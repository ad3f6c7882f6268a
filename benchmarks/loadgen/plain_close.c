/* A library to preload: SO_LINGER is ignored, so a program that closes its connections with a reset closes them as others do. */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int setsockopt(int fd, int level, int name, const void *value, socklen_t length) {
    if (level == SOL_SOCKET && name == SO_LINGER) return 0;
    return syscall(SYS_setsockopt, fd, level, name, value, length);
}
