// SPDX-License-Identifier: Apache-2.0
#ifndef C_TLS_RELAY_H
#define C_TLS_RELAY_H

#include <stddef.h>
#include <stdint.h>

/// A relay on loopback that ends TLS and passes the bytes on to a TCP port.
typedef struct tls_relay tls_relay;

/// What is wrong with the certificate that a relay shows.
typedef enum {
    TLS_IDENTITY_VALID,
    TLS_IDENTITY_EXPIRED,
    TLS_IDENTITY_NOT_YET_VALID,
    TLS_IDENTITY_SELF_SIGNED,
    TLS_IDENTITY_WRONG_HOST,
    TLS_IDENTITY_UNTRUSTED_ROOT
} tls_identity;

/// Starts a relay; NULL on failure, with a text in `error`.
///
/// `ca_path` is where the root certificate is written as PEM. `alpn` is the list of protocols in the form of
/// RFC 7301 (a length byte before each name); of length 0, no protocol is negotiated. `clients_folder`, if not NULL, is
/// where the certificates and keys of clients are written: `client` below the root, `stranger` below another one,
/// `expired`, which ended yesterday, and `server`, which is for servers alone; each as .pem, .key, -locked.key and
/// .p12, the last two with the password "secret". A client must then show one. With `is_old`, TLS 1.2 is the latest
/// version.
tls_relay *tls_relay_start(
    uint16_t upstream_port, tls_identity identity, int close_notify, const uint8_t *alpn, size_t alpn_length,
    const char *ca_path, const char *clients_folder, int is_old, char *error, size_t error_size);

/// From the next connection on, a request is answered with TLS 1.3's KeyUpdate, over and over, and nothing else.
void tls_relay_flood(tls_relay *relay);

/// The port on which the relay listens.
uint16_t tls_relay_port(const tls_relay *relay);

/// How many handshakes were completed.
int tls_relay_handshakes(tls_relay *relay);

/// How many bytes of the upstream were passed on to clients.
size_t tls_relay_passed_on(tls_relay *relay);

/// Ends all connections, waits for the relay's threads and frees it.
void tls_relay_stop(tls_relay *relay);

/// How a probe's connection ended.
typedef enum {
    TLS_PROBE_NO_CONNECTION,
    TLS_PROBE_NO_HANDSHAKE,
    TLS_PROBE_CLOSE_NOTIFY,
    /// The connection was closed without the end that TLS asks for.
    TLS_PROBE_BARE_END,
    TLS_PROBE_BROKEN
} tls_probe_end;

/// What a probe found out.
typedef struct {
    /// An `X509_V_` code of OpenSSL, 0 for a good certificate; -1 without a handshake.
    int verification;
    int chose_http1;
    size_t count;
    tls_probe_end end;
} tls_probe_result;

/// Sends a request over TLS to a port on loopback as a client would that asked for `localhost`, and reads to the end.
tls_probe_result tls_probe(
    uint16_t port, const char *ca_path, const char *request, uint8_t *output, size_t capacity);

#endif
