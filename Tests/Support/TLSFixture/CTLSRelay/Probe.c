// SPDX-License-Identifier: Apache-2.0
#include "CTLSRelay.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int connect_to(uint16_t port) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
#ifdef SOCK_CLOEXEC
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
#else
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
#endif
    struct timeval timeout = {.tv_sec = 90};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    close(descriptor);
    return -1;
}

tls_probe_result tls_probe(
    uint16_t port, const char *ca_path, const char *request, uint8_t *output, size_t capacity) {
    tls_probe_result result = {.verification = -1, .end = TLS_PROBE_NO_CONNECTION};
    sigset_t pipe_signal, before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    ERR_clear_error();
    int descriptor = connect_to(port);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *tls = context != NULL ? SSL_new(context) : NULL;
    if (descriptor < 0 || tls == NULL) goto end;
    SSL_CTX_load_verify_locations(context, ca_path, NULL);
    static const unsigned char protocols[] = "\x02h2\x08http/1.1";
    SSL_set_alpn_protos(tls, protocols, sizeof protocols - 1);
    SSL_set1_host(tls, "localhost");
    SSL_set_fd(tls, descriptor);
    // The result is reported, not enforced, so that one probe tells all that there is to know.
    SSL_set_verify(tls, SSL_VERIFY_NONE, NULL);
    result.end = TLS_PROBE_NO_HANDSHAKE;
    if (SSL_connect(tls) != 1) goto end;
    result.verification = (int)SSL_get_verify_result(tls);
    const unsigned char *protocol;
    unsigned int length;
    SSL_get0_alpn_selected(tls, &protocol, &length);
    result.chose_http1 = length == 8 && memcmp(protocol, "http/1.1", 8) == 0;
    SSL_write(tls, request, (int)strlen(request));
    for (;;) {
        int room = (int)(capacity - result.count);
        int count = room > 0 ? SSL_read(tls, output + result.count, room) : 0;
        if (count > 0) {
            result.count += (size_t)count;
            continue;
        }
        int error = SSL_get_error(tls, count);
        if (error == SSL_ERROR_ZERO_RETURN) {
            result.end = TLS_PROBE_CLOSE_NOTIFY;
        } else if (error == SSL_ERROR_SSL && ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
            result.end = TLS_PROBE_BARE_END;
        } else {
            result.end = TLS_PROBE_BROKEN;
        }
        break;
    }
end:
    SSL_free(tls);
    SSL_CTX_free(context);
    if (descriptor >= 0) close(descriptor);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}
