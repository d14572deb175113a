// SPDX-License-Identifier: Apache-2.0
#ifndef C_TLS_CERTIFICATES_H
#define C_TLS_CERTIFICATES_H

#include "CTLSRelay.h"
#include <openssl/ssl.h>

/// Makes a root and a certificate below it, loads the latter into `context` and writes the root to `ca_path`.
///
/// With `clients_folder`, the certificates of clients are written there, and the context requires one of them.
int certificates_install(SSL_CTX *context, tls_identity identity, const char *ca_path, const char *clients_folder);

#endif
