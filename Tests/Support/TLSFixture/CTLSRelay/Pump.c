// SPDX-License-Identifier: Apache-2.0
#include "Pump.h"

#include <errno.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
// Where it is missing, the thread blocks SIGPIPE anyway.
#define MSG_NOSIGNAL 0
#endif

enum { buffer_size = 65536 };

/// What a TLS call waits for: 0 if it failed for good.
static short wanted(SSL *tls, int result) {
    switch (SSL_get_error(tls, result)) {
    case SSL_ERROR_WANT_READ: return POLLIN;
    case SSL_ERROR_WANT_WRITE: return POLLOUT;
    default: return 0;
    }
}

static int wait_for(int descriptor, short events, int milliseconds) {
    struct pollfd entry = {.fd = descriptor, .events = events};
    int result;
    do result = poll(&entry, 1, milliseconds); while (result < 0 && errno == EINTR);
    return result > 0;
}

int pump_accept(SSL *tls, int client) {
    for (;;) {
        ERR_clear_error();
        int result = SSL_accept(tls);
        if (result == 1) return 1;
        short events = wanted(tls, result);
        if (events == 0) {
            // Alerts have left; the client must be able to read them before the connection is gone.
            shutdown(client, SHUT_WR);
            char rest[4096];
            while (wait_for(client, POLLIN, 500) && recv(client, rest, sizeof rest, 0) > 0) {}
            return 0;
        }
        wait_for(client, events, -1);
    }
}

/// Ends the client's side in good order for TCP, with or without the end that TLS asks for.
static void finish(SSL *tls, int client, int close_notify) {
    if (close_notify) {
        for (;;) {
            ERR_clear_error();
            int result = SSL_shutdown(tls);
            if (result >= 0) break;
            short events = wanted(tls, result);
            if (events == 0 || !wait_for(client, events, 2000)) break;
        }
    }
    shutdown(client, SHUT_WR);
    char rest[4096];
    while (wait_for(client, POLLIN, 1000)) {
        ssize_t count = recv(client, rest, sizeof rest, 0);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) break;
    }
}

static void reset(int client) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

void pump_run(SSL *tls, int client, int upstream, int close_notify, atomic_size_t *passed_on) {
    static _Thread_local char up[buffer_size], down[buffer_size];
    ssize_t up_start = 0, up_end = 0, down_start = 0, down_end = 0;
    int upstream_ended = 0;
    for (;;) {
        short client_events = 0, upstream_events = 0;
        int moved = 0;
        if (up_start == up_end) {
            ERR_clear_error();
            int count = SSL_read(tls, up, buffer_size);
            if (count > 0) {
                up_start = 0, up_end = count, moved = 1;
            } else {
                short events = wanted(tls, count);
                if (events == 0) return;
                client_events |= events;
            }
        }
        if (up_start < up_end) {
            ssize_t count = send(upstream, up + up_start, (size_t)(up_end - up_start), MSG_NOSIGNAL);
            if (count > 0) {
                up_start += count, moved = 1;
            } else if (errno == EAGAIN) {
                upstream_events |= POLLOUT;
            } else {
                // The upstream takes no more; what it has sent is still to be passed on.
                up_start = up_end = 0;
            }
        }
        if (down_start == down_end && !upstream_ended) {
            ssize_t count = recv(upstream, down, buffer_size, 0);
            if (count > 0) {
                down_start = 0, down_end = count, moved = 1;
            } else if (count == 0) {
                upstream_ended = 1;
            } else if (errno == EAGAIN) {
                upstream_events |= POLLIN;
            } else if (errno != EINTR) {
                reset(client);
                return;
            }
        }
        if (down_start < down_end) {
            ERR_clear_error();
            int count = SSL_write(tls, down + down_start, (int)(down_end - down_start));
            if (count > 0) {
                down_start += count, moved = 1;
                atomic_fetch_add(passed_on, (size_t)count);
            } else {
                short events = wanted(tls, count);
                if (events == 0) return;
                client_events |= events;
            }
        }
        if (upstream_ended && down_start == down_end) return finish(tls, client, close_notify);
        if (moved) continue;
        struct pollfd entries[2] = {
            {.fd = client, .events = client_events},
            {.fd = upstream_events ? upstream : -1, .events = upstream_events}};
        if (poll(entries, 2, -1) < 0 && errno != EINTR) return;
    }
}

void pump_flood(SSL *tls, int client) {
    char request[4096];
    int result;
    while ((result = SSL_read(tls, request, sizeof request)) <= 0) {
        short events = wanted(tls, result);
        if (events == 0 || !wait_for(client, events, 60000)) return;
    }
    for (;;) {
        ERR_clear_error();
        if (!SSL_key_update(tls, SSL_KEY_UPDATE_NOT_REQUESTED)) return;
        while ((result = SSL_do_handshake(tls)) != 1) {
            short events = wanted(tls, result);
            if (events == 0 || !wait_for(client, events, 60000)) return;
        }
    }
}
