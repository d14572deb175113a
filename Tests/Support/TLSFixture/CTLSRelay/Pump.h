// SPDX-License-Identifier: Apache-2.0
#ifndef C_TLS_PUMP_H
#define C_TLS_PUMP_H

#include <openssl/ssl.h>
#include <stdatomic.h>

/// Completes the handshake on a non-blocking descriptor; 0 if it failed.
int pump_accept(SSL *tls, int client);

/// Passes bytes both ways until one side ends, and ends the client's side as the upstream ended its own.
///
/// The bytes that were written to the client are added to `passed_on`.
void pump_run(SSL *tls, int client, int upstream, int close_notify, atomic_size_t *passed_on);

/// Reads a request, and then updates the keys over and over until the client leaves.
void pump_flood(SSL *tls, int client);

#endif
