// SPDX-License-Identifier: Apache-2.0
// For accept4.
#define _GNU_SOURCE
#include "CTLSRelay.h"
#include "Certificates.h"
#include "Pump.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct connection {
    tls_relay *relay;
    int client;
    int upstream;
    struct connection *next;
} connection;

struct tls_relay {
    SSL_CTX *context;
    uint16_t upstream_port;
    uint16_t port;
    int close_notify;
    uint8_t alpn[256];
    size_t alpn_length;
    int listener;
    int wake[2];
    pthread_t acceptor;
    pthread_mutex_t mutex;
    pthread_cond_t emptied;
    connection *connections;
    int handshakes;
    int stopping;
    atomic_size_t passed_on;
    atomic_bool floods;
};

// In one step where the system has it: a process that another test starts in between would keep the connection open.
static int make_socket(void) {
#ifdef SOCK_CLOEXEC
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
#else
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    if (descriptor >= 0) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return descriptor;
#endif
}

static int accept_client(int listener) {
#ifdef SOCK_CLOEXEC
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
#else
    int descriptor = accept(listener, NULL, NULL);
    if (descriptor >= 0) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return descriptor;
#endif
}

static struct sockaddr_in loopback(uint16_t port) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void prepare(int descriptor) {
    int yes = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
}

static int select_protocol(
    SSL *tls, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
    unsigned int offered_length, void *argument) {
    (void)tls;
    tls_relay *relay = argument;
    int result = SSL_select_next_proto(
        (unsigned char **)chosen, length, relay->alpn, (unsigned int)relay->alpn_length, offered, offered_length);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

/// Ends a connection so that the client can read why: to close with something unread would reset it.
static void linger(int descriptor) {
    char rest[4096];
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    shutdown(descriptor, SHUT_WR);
    while (poll(&entry, 1, 1000) > 0 && recv(descriptor, rest, sizeof rest, 0) > 0) {}
}

static void *serve(void *argument) {
    connection *self = argument;
    tls_relay *relay = self->relay;
    // OpenSSL writes without MSG_NOSIGNAL; a signal that is raised by a write goes to the writing thread.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);

    SSL *tls = SSL_new(relay->context);
    prepare(self->client);
    if (tls != NULL && SSL_set_fd(tls, self->client) == 1 && pump_accept(tls, self->client)) {
        struct sockaddr_in address = loopback(relay->upstream_port);
        int upstream = make_socket();
        int connected = upstream >= 0 && connect(upstream, (struct sockaddr *)&address, sizeof address) == 0;
        pthread_mutex_lock(&relay->mutex);
        relay->handshakes += 1;
        self->upstream = upstream;
        connected = connected && !relay->stopping;
        pthread_mutex_unlock(&relay->mutex);
        if (connected) {
            prepare(upstream);
            if (atomic_load(&relay->floods)) pump_flood(tls, self->client);
            else pump_run(tls, self->client, upstream, relay->close_notify, &relay->passed_on);
        }
    } else {
        linger(self->client);
    }
    SSL_free(tls);

    pthread_mutex_lock(&relay->mutex);
    connection **link = &relay->connections;
    while (*link != self) link = &(*link)->next;
    *link = self->next;
    // Closed under the lock: stop must not shut down a descriptor that is someone else's by now.
    close(self->client);
    if (self->upstream >= 0) close(self->upstream);
    if (relay->connections == NULL) pthread_cond_broadcast(&relay->emptied);
    pthread_mutex_unlock(&relay->mutex);
    free(self);
    return NULL;
}

static void begin(tls_relay *relay, int client) {
    connection *self = calloc(1, sizeof *self);
    if (self == NULL) {
        close(client);
        return;
    }
    *self = (connection){.relay = relay, .client = client, .upstream = -1};
    pthread_mutex_lock(&relay->mutex);
    self->next = relay->connections;
    relay->connections = self;
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, self) == 0) {
        pthread_detach(thread);
    } else {
        relay->connections = self->next;
        close(client);
        free(self);
    }
    pthread_mutex_unlock(&relay->mutex);
}

static void *accept_all(void *argument) {
    tls_relay *relay = argument;
    struct pollfd entries[2] = {
        {.fd = relay->wake[0], .events = POLLIN}, {.fd = relay->listener, .events = POLLIN}};
    for (;;) {
        if (poll(entries, 2, -1) < 0 && errno != EINTR) return NULL;
        if (entries[0].revents) return NULL;
        if (!entries[1].revents) continue;
        int client = accept_client(relay->listener);
        if (client >= 0) {
            begin(relay, client);
        } else if (errno == EMFILE || errno == ENFILE) {
            poll(NULL, 0, 10);
        }
    }
}

static void release(tls_relay *relay) {
    if (relay->listener >= 0) close(relay->listener);
    if (relay->wake[0] >= 0) close(relay->wake[0]);
    if (relay->wake[1] >= 0) close(relay->wake[1]);
    SSL_CTX_free(relay->context);
    pthread_cond_destroy(&relay->emptied);
    pthread_mutex_destroy(&relay->mutex);
    free(relay);
}

tls_relay *tls_relay_start(
    uint16_t upstream_port, tls_identity identity, int close_notify, const uint8_t *alpn, size_t alpn_length,
    const char *ca_path, const char *clients_folder, int is_old, char *error, size_t error_size) {
    tls_relay *relay = calloc(1, sizeof *relay);
    if (relay == NULL) return NULL;
    const char *step = "SSL_CTX_new";
    relay->upstream_port = upstream_port;
    relay->close_notify = close_notify;
    relay->listener = relay->wake[0] = relay->wake[1] = -1;
    relay->alpn_length = alpn_length < sizeof relay->alpn ? alpn_length : 0;
    memcpy(relay->alpn, alpn, relay->alpn_length);
    pthread_mutex_init(&relay->mutex, NULL);
    pthread_cond_init(&relay->emptied, NULL);
    relay->context = SSL_CTX_new(TLS_server_method());
    if (relay->context == NULL) goto failed;
    if (is_old) SSL_CTX_set_max_proto_version(relay->context, TLS1_2_VERSION);
    SSL_CTX_set_mode(relay->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (relay->alpn_length > 0) SSL_CTX_set_alpn_select_cb(relay->context, select_protocol, relay);
    step = "making certificates";
    if (!certificates_install(relay->context, identity, ca_path, clients_folder)) goto failed;
    step = "listening";
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    relay->listener = make_socket();
    if (relay->listener < 0 || bind(relay->listener, (struct sockaddr *)&address, length) != 0
        || listen(relay->listener, 1024) != 0
        || getsockname(relay->listener, (struct sockaddr *)&address, &length) != 0) goto failed;
    relay->port = ntohs(address.sin_port);
    if (pipe(relay->wake) != 0) goto failed;
    fcntl(relay->wake[0], F_SETFD, FD_CLOEXEC);
    fcntl(relay->wake[1], F_SETFD, FD_CLOEXEC);
    step = "starting a thread";
    if (pthread_create(&relay->acceptor, NULL, accept_all, relay) != 0) goto failed;
    return relay;
failed: {
    char detail[160] = "";
    unsigned long code = ERR_get_error();
    if (code != 0) ERR_error_string_n(code, detail, sizeof detail);
    snprintf(error, error_size, "%s failed: %s", step, code != 0 ? detail : strerror(errno));
    release(relay);
    return NULL;
}
}

uint16_t tls_relay_port(const tls_relay *relay) { return relay->port; }

int tls_relay_handshakes(tls_relay *relay) {
    pthread_mutex_lock(&relay->mutex);
    int count = relay->handshakes;
    pthread_mutex_unlock(&relay->mutex);
    return count;
}

void tls_relay_flood(tls_relay *relay) { atomic_store(&relay->floods, true); }

size_t tls_relay_passed_on(tls_relay *relay) { return atomic_load(&relay->passed_on); }

void tls_relay_stop(tls_relay *relay) {
    char byte = 0;
    while (write(relay->wake[1], &byte, 1) < 0 && errno == EINTR) {}
    pthread_join(relay->acceptor, NULL);
    pthread_mutex_lock(&relay->mutex);
    relay->stopping = 1;
    for (connection *each = relay->connections; each != NULL; each = each->next) {
        shutdown(each->client, SHUT_RDWR);
        if (each->upstream >= 0) shutdown(each->upstream, SHUT_RDWR);
    }
    while (relay->connections != NULL) pthread_cond_wait(&relay->emptied, &relay->mutex);
    pthread_mutex_unlock(&relay->mutex);
    release(relay);
}
