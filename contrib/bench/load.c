/* Closed-loop load on the stub, to show that the stub is not what a benchmark measures.
 *
 *     load PORT CONNECTIONS SECONDS
 *
 * Each connection sends one find on `one`, waits for the whole reply and sends the next. Prints the number of
 * answered requests and the seconds they took. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* OP_MSG {find: "one", $db: "bench"}, little-endian. */
static const char request[] =
    "\x37\x00\x00\x00" "\x01\x00\x00\x00" "\x00\x00\x00\x00" "\xdd\x07\x00\x00" "\x00\x00\x00\x00" "\x00"
    "\x22\x00\x00\x00" "\x02" "find\0" "\x04\x00\x00\x00" "one\0" "\x02" "$db\0" "\x06\x00\x00\x00" "bench\0";
enum { REQUEST = sizeof request }; /* the NUL that C adds ends the document */

typedef struct {
    int fd;
    int32_t left; /* bytes of the reply still to come; 0: its length is not known yet */
} Conn;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void ask(Conn *c) {
    if (send(c->fd, request, REQUEST, 0) != REQUEST) die("send");
}

/* 1 when a reply ended with these bytes. */
static int take(Conn *c) {
    char buffer[4096];
    ssize_t n = recv(c->fd, buffer, sizeof buffer, 0);
    if (n < 16 && (n <= 0 || !c->left)) die("recv");
    if (!c->left) memcpy(&c->left, buffer, 4);
    c->left -= (int32_t)n;
    return c->left == 0;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    where.sin_port = htons((uint16_t)atoi(argv[1]));
    int count = atoi(argv[2]), on = 1, loop = epoll_create1(0);
    double start = now(), stop = start + atof(argv[3]), time = start;
    Conn *all = calloc((size_t)count, sizeof *all);
    struct epoll_event ready[256];
    long answered = 0;
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        if ((all[i].fd = socket(AF_INET, SOCK_STREAM, 0)) < 0) die("socket");
        if (connect(all[i].fd, (struct sockaddr *)&where, sizeof where)) die("connect");
        setsockopt(all[i].fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (epoll_ctl(loop, EPOLL_CTL_ADD, all[i].fd, &event)) die("epoll_ctl");
        ask(&all[i]);
    }
    while ((time = now()) < stop) {
        int n = epoll_wait(loop, ready, 256, 100);
        for (int i = 0; i < n; i++) {
            if (!take(ready[i].data.ptr)) continue;
            answered++;
            ask(ready[i].data.ptr);
        }
    }
    printf("%ld %.6f\n", answered, time - start);
    return 0;
}
