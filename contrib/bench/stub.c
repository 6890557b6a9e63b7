/* A stub server that answers at once, so that a benchmark against it measures the client alone.
 *
 * One thread, one epoll loop, any number of connections. It listens on 127.0.0.1 on a free port, prints that
 * port on stdout and ends when its stdin closes. Every reply is built once at the start: answering copies
 * the 16 header bytes, patches requestID and responseTo, and writes header and shared body in one call.
 *
 * It plays a standalone with maxWireVersion 21: hello (by OP_QUERY and OP_MSG), ping, insert and update of one
 * document, and find in the collections `one` (one document, a reply of about 425 bytes), `many` (1,000 documents) and `huge`
 * (76,000 documents, 16.7 MB). Any other find gets an empty batch, any other command {ok: 1}. It never reports a
 * topologyVersion, so that clients poll. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEADER = 16, OP_REPLY = 1, OP_QUERY = 2004, OP_MSG = 2013 };
enum { MAX_MESSAGE = 48000000, ROOM = 16384, SMALL = 1024, MORE_TO_COME = 2 };
enum { MANY_DOCUMENTS = 1000, MANY_SIZE = 175, HUGE_DOCUMENTS = 76000, HUGE_SIZE = 213 };

static void die(const char *what) {
    perror(what);
    exit(1);
}

/* ---- BSON and messages, written into a growing buffer (little-endian hosts only) ---- */

typedef struct {
    char *data;
    size_t len, cap;
} Buf;

static void put(Buf *b, const void *src, size_t n) {
    if (b->len + n > b->cap) {
        b->cap = (b->len + n) * 2;
        if (!(b->data = realloc(b->data, b->cap))) die("realloc");
    }
    memcpy(b->data + b->len, src, n);
    b->len += n;
}

static void put_byte(Buf *b, char v) { put(b, &v, 1); }
static void put_i32(Buf *b, int32_t v) { put(b, &v, 4); }
static void put_i64(Buf *b, int64_t v) { put(b, &v, 8); }

static void key(Buf *b, char type, const char *name) {
    put_byte(b, type);
    put(b, name, strlen(name) + 1);
}

static void e_i32(Buf *b, const char *name, int32_t v) { key(b, 0x10, name), put_i32(b, v); }
static void e_bool(Buf *b, const char *name, char v) { key(b, 0x08, name), put_byte(b, v); }
static void e_date(Buf *b, const char *name, int64_t v) { key(b, 0x09, name), put_i64(b, v); }
static void e_double(Buf *b, const char *name, double v) { key(b, 0x01, name), put(b, &v, 8); }
static void e_timestamp(Buf *b, const char *name, int64_t t) { key(b, 0x11, name), put_i64(b, t << 32 | 1); }

static void e_string(Buf *b, const char *name, const char *v) {
    key(b, 0x02, name);
    put_i32(b, (int32_t)strlen(v) + 1);
    put(b, v, strlen(v) + 1);
}

/* Open a document (type 3), an array (type 4) or, without a name, a top-level document; `end` sets its length. */
static size_t begin(Buf *b, char type, const char *name) {
    if (name) key(b, type, name);
    put_i32(b, 0);
    return b->len - 4;
}

static void end(Buf *b, size_t at) {
    put_byte(b, 0);
    int32_t size = (int32_t)(b->len - at);
    memcpy(b->data + at, &size, 4);
}

static void e_object_id(Buf *b, const char *name, int n) {
    unsigned char id[12] = {0x66, 0x5f, 0x1c, 0x20, 0x9a, 0x3b, 0x77, 0x01, 0x5e};
    id[9] = (unsigned char)(n >> 16), id[10] = (unsigned char)(n >> 8), id[11] = (unsigned char)n;
    key(b, 0x07, name);
    put(b, id, sizeof id);
}

static size_t begin_message(Buf *b, int opcode) {
    int32_t header[4] = {0, 0, 0, opcode};
    *b = (Buf){0};
    put(b, header, sizeof header);
    if (opcode == OP_MSG) {
        put_i32(b, 0);  /* flags */
        put_byte(b, 0); /* a section of kind 0 */
    } else {
        put_i32(b, 8);  /* AwaitCapable */
        put_i64(b, 0);  /* no cursor */
        put_i32(b, 0);  /* starting from */
        put_i32(b, 1);  /* documents returned */
    }
    return begin(b, 3, NULL);
}

static void end_message(Buf *b, size_t at) {
    end(b, at);
    int32_t size = (int32_t)b->len;
    memcpy(b->data, &size, 4);
}

/* ---- the replies ---- */

static Buf legacy_hello, msg_hello, hello, ok, inserted, updated, found_none, found_one, found_many, found_huge;

static void build_hello(Buf *b, int opcode, const char *writable) {
    size_t at = begin_message(b, opcode);
    e_bool(b, "helloOk", 1);
    e_bool(b, writable, 1);
    e_i32(b, "maxBsonObjectSize", 16777216);
    e_i32(b, "maxMessageSizeBytes", MAX_MESSAGE);
    e_i32(b, "maxWriteBatchSize", 100000);
    e_date(b, "localTime", 1718000000000);
    e_i32(b, "logicalSessionTimeoutMinutes", 30);
    e_i32(b, "connectionId", 1);
    e_i32(b, "minWireVersion", 0);
    e_i32(b, "maxWireVersion", 21);
    e_bool(b, "readOnly", 0);
    e_double(b, "ok", 1);
    end_message(b, at);
}

/* What a real server adds to the end of its replies: ok, $clusterTime and operationTime. */
static void finish_reply(Buf *b, size_t at) {
    static const char hash[20];
    e_double(b, "ok", 1);
    size_t cluster = begin(b, 3, "$clusterTime");
    e_timestamp(b, "clusterTime", 1718000000);
    size_t signature = begin(b, 3, "signature");
    key(b, 0x05, "hash"), put_i32(b, sizeof hash), put_byte(b, 0), put(b, hash, sizeof hash);
    key(b, 0x12, "keyId"), put_i64(b, 0);
    end(b, signature);
    end(b, cluster);
    e_timestamp(b, "operationTime", 1718000000);
    end_message(b, at);
}

static void build_write(Buf *b, int n, int modified) {
    size_t at = begin_message(b, OP_MSG);
    if (n) e_i32(b, "n", n);
    if (modified) e_i32(b, "nModified", modified);
    finish_reply(b, at);
}

/* One document of `one`: the kinds of values an application stores. */
static void put_profile(Buf *b, const char *name) {
    size_t at = begin(b, 3, name);
    e_object_id(b, "_id", 0);
    e_i32(b, "n", 0);
    e_string(b, "name", "Ada Lovelace");
    e_string(b, "email", "ada@example.org");
    e_string(b, "address", "12 St James Square, London");
    e_date(b, "created", 1718000000000);
    e_double(b, "score", 42.5);
    e_bool(b, "active", 1);
    size_t tags = begin(b, 4, "tags");
    e_string(b, "0", "first");
    e_string(b, "1", "second");
    end(b, tags);
    end(b, at);
}

/* One document of `many` and `huge`, of exactly `size` bytes. */
static void put_small(Buf *b, const char *name, int n, size_t size) {
    char who[32], pad[256] = "";
    snprintf(who, sizeof who, "user-%06d", n);
    size_t at = begin(b, 3, name);
    e_object_id(b, "_id", n);
    e_i32(b, "n", n);
    e_string(b, "name", who);
    e_double(b, "score", n * 0.5);
    e_bool(b, "active", n & 1);
    e_date(b, "created", 1718000000000 + n);
    /* What is left, less the frame of this last element (type, "text" and NUL, length, NUL) and the final NUL. */
    memset(pad, 'x', size - (b->len - at) - 12);
    e_string(b, "text", pad);
    end(b, at);
}

static void build_find(Buf *b, const char *collection, int count, size_t size) {
    char ns[64], index[16];
    snprintf(ns, sizeof ns, "bench.%s", collection);
    size_t at = begin_message(b, OP_MSG), cursor = begin(b, 3, "cursor"), batch = begin(b, 4, "firstBatch");
    for (int n = 0; n < count; n++) {
        snprintf(index, sizeof index, "%d", n);
        if (size) put_small(b, index, n, size);
        else put_profile(b, index);
    }
    end(b, batch);
    key(b, 0x12, "id"), put_i64(b, 0);
    e_string(b, "ns", ns);
    end(b, cursor);
    finish_reply(b, at);
}

static void build_replies(void) {
    build_hello(&legacy_hello, OP_REPLY, "ismaster");
    build_hello(&msg_hello, OP_MSG, "ismaster");
    build_hello(&hello, OP_MSG, "isWritablePrimary");
    build_write(&ok, 0, 0);
    build_write(&inserted, 1, 0);
    build_write(&updated, 1, 1);
    build_find(&found_none, "none", 0, 0);
    build_find(&found_one, "one", 1, 0);
    build_find(&found_many, "many", MANY_DOCUMENTS, MANY_SIZE);
    build_find(&found_huge, "huge", HUGE_DOCUMENTS, HUGE_SIZE);
}

/* ---- choosing the reply to a request ---- */

static const Buf *choose_find(const char *collection) {
    if (!strcmp(collection, "one")) return &found_one;
    if (!strcmp(collection, "many")) return &found_many;
    return strcmp(collection, "huge") ? &found_none : &found_huge;
}

/* `doc` is a command of `left` bytes; its name is the key of its first element. */
static const Buf *choose_command(const char *doc, size_t left) {
    if (left < 7 || !memchr(doc + 5, 0, left - 5)) return NULL;
    const char *name = doc + 5, *value = name + strlen(name) + 1;
    if (!strcmp(name, "find")) {
        if (doc[4] != 0x02 || value + 5 > doc + left || !memchr(value + 4, 0, doc + left - value - 4)) return NULL;
        return choose_find(value + 4);
    }
    if (!strcmp(name, "insert")) return &inserted;
    if (!strcmp(name, "update")) return &updated;
    if (!strcmp(name, "hello")) return &hello;
    if (!strcasecmp(name, "ismaster")) return &msg_hello;
    return &ok;
}

/* NULL for what is not understood (the connection is then closed). `silent`: the client wants no reply. */
static const Buf *choose(const char *msg, size_t size, int *silent) {
    int32_t opcode, flags, length;
    memcpy(&opcode, msg + 12, 4);
    *silent = 0;
    if (opcode == OP_QUERY) return &legacy_hello;
    if (opcode != OP_MSG || size < HEADER + 4 + 1 + 5) return NULL;
    memcpy(&flags, msg + HEADER, 4);
    *silent = (flags & MORE_TO_COME) != 0;
    for (size_t at = HEADER + 4; at + 6 <= size; at += (size_t)length + 1) {
        if (msg[at] == 0) return choose_command(msg + at + 1, size - at - 1);
        memcpy(&length, msg + at + 1, 4); /* a document sequence before the body: step over it */
        if (length < 4) break;
    }
    return NULL;
}

/* ---- connections ---- */

typedef struct {
    int fd;
    Buf in;
    int32_t header[4];  /* of the reply that is being written */
    const Buf *out;     /* its message; NULL when nothing waits to be written */
    size_t sent;
} Conn;

static int loop;
static int32_t last_request_id;

static void watch(Conn *c, int how, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (epoll_ctl(loop, how, c->fd, &event)) die("epoll_ctl");
}

/* 1: all written; 0: the socket is full; -1: the connection is gone. */
static int flush_out(Conn *c) {
    while (c->out) {
        char part[SMALL]; /* the header and what follows it, for a reply begun; later the shared body itself */
        size_t size = c->out->len - c->sent;
        const char *from = c->out->data + c->sent;
        if (c->sent < HEADER) {
            size = size < SMALL ? size : SMALL;
            memcpy(part, from, size);
            memcpy(part, (char *)c->header + c->sent, HEADER - c->sent);
            from = part;
        }
        ssize_t n = send(c->fd, from, size, c->sent + size < c->out->len ? MSG_MORE : 0);
        if (n < 0) return errno == EAGAIN ? 0 : -1;
        if ((c->sent += (size_t)n) == c->out->len) c->out = NULL;
    }
    return 1;
}

/* Answer the whole requests that are in, until one reply does not fit into the socket. -1: close. */
static int answer(Conn *c) {
    size_t at = 0;
    int state = 1, silent;
    while (state == 1 && c->in.len - at >= HEADER) {
        int32_t header[4];
        memcpy(header, c->in.data + at, HEADER);
        if (header[0] < HEADER || header[0] > MAX_MESSAGE) return -1;
        if (c->in.len - at < (size_t)header[0]) break;
        const Buf *reply = choose(c->in.data + at, (size_t)header[0], &silent);
        if (!reply) return -1;
        at += (size_t)header[0];
        if (silent) continue;
        memcpy(c->header, reply->data, HEADER);
        c->header[1] = ++last_request_id;
        c->header[2] = header[1];
        c->out = reply, c->sent = 0;
        state = flush_out(c);
    }
    c->in.len -= at;
    if (at && c->in.len) memmove(c->in.data, c->in.data + at, c->in.len);
    return state;
}

static int receive(Conn *c) {
    if (c->in.cap - c->in.len < ROOM) {
        c->in.cap = c->in.cap * 2 + ROOM;
        if (!(c->in.data = realloc(c->in.data, c->in.cap))) die("realloc");
    }
    ssize_t n = recv(c->fd, c->in.data + c->in.len, c->in.cap - c->in.len, 0);
    if (n < 0) return errno == EAGAIN ? 1 : -1;
    if (n == 0) return -1;
    c->in.len += (size_t)n;
    return answer(c);
}

static void serve(Conn *c) {
    int was_full = c->out != NULL;
    int state = was_full ? flush_out(c) : receive(c);
    if (was_full && state == 1) state = answer(c); /* requests that came while the socket was full */
    if (state < 0) {
        close(c->fd);
        free(c->in.data);
        free(c);
    } else if (was_full != (state == 0)) {
        watch(c, EPOLL_CTL_MOD, state == 0 ? EPOLLOUT : EPOLLIN);
    }
}

static void accept_all(int listener) {
    int fd, on = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        Conn *c = calloc(1, sizeof *c);
        if (!c) die("calloc");
        c->fd = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(c, EPOLL_CTL_ADD, EPOLLIN);
    }
}

static int open_listener(void) {
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof where;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&where, size) || listen(fd, 1024)) die("listen");
    if (getsockname(fd, (struct sockaddr *)&where, &size)) die("getsockname");
    printf("%d\n", ntohs(where.sin_port));
    fflush(stdout);
    return fd;
}

int main(void) {
    struct epoll_event ready[256];
    Conn stdin_conn = {.fd = 0}, listener = {.fd = -1};
    signal(SIGPIPE, SIG_IGN);
    build_replies();
    if ((loop = epoll_create1(EPOLL_CLOEXEC)) < 0) die("epoll_create1");
    watch(&stdin_conn, EPOLL_CTL_ADD, EPOLLIN);
    listener.fd = open_listener();
    watch(&listener, EPOLL_CTL_ADD, EPOLLIN);
    for (;;) {
        int count = epoll_wait(loop, ready, 256, -1);
        for (int i = 0; i < count; i++) {
            Conn *c = ready[i].data.ptr;
            char waste[256];
            if (c == &listener) accept_all(listener.fd);
            else if (c != &stdin_conn) serve(c);
            else if (read(0, waste, sizeof waste) <= 0) return 0;
        }
    }
}
