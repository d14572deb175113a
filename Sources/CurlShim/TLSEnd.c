// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CurlShim.h"

#include <dlfcn.h>

// What only the TLS library knows: whether the peer has ended TLS (libcurl takes the end of a connection for the end of
// a body even without that), and whether decrypted data is left over. The functions are looked up at run time, so that
// the package needs no headers of a TLS library: in the program itself if it is linked statically, otherwise in the
// libraries that libcurl loaded.

extern int SSL_get_shutdown(const void *session) __attribute__((weak));
extern int SSL_has_pending(const void *session) __attribute__((weak));

typedef int (*get_shutdown)(const void *);
typedef int (*has_pending)(const void *);
typedef size_t (*count_pending)(const void *);
typedef long (*control)(void *session, int command, long argument, void *pointer);
typedef void (*observe)(void *context, void (*observer)(void *session, int where, int value));
typedef void *(*read_bio)(const void *session);
typedef uint64_t (*count_read)(void *bio);

static get_shutdown openssl_shutdown;
static has_pending openssl_pending, wolfssl_pending;
static count_pending gnutls_pending, mbedtls_pending;
static control openssl_control;
static observe openssl_observe;
static read_bio openssl_read_bio;
static count_read openssl_count_read;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look_up(void) {
    openssl_shutdown = SSL_get_shutdown ? SSL_get_shutdown : (get_shutdown)dlsym(RTLD_DEFAULT, "SSL_get_shutdown");
    openssl_pending = SSL_has_pending ? SSL_has_pending : (has_pending)dlsym(RTLD_DEFAULT, "SSL_has_pending");
    // LibreSSL has only this one.
    if (!openssl_pending) openssl_pending = (has_pending)dlsym(RTLD_DEFAULT, "SSL_pending");
    openssl_control = (control)dlsym(RTLD_DEFAULT, "SSL_ctrl");
    openssl_observe = (observe)dlsym(RTLD_DEFAULT, "SSL_CTX_set_info_callback");
    openssl_read_bio = (read_bio)dlsym(RTLD_DEFAULT, "SSL_get_rbio");
    openssl_count_read = (count_read)dlsym(RTLD_DEFAULT, "BIO_number_read");
    wolfssl_pending = (has_pending)dlsym(RTLD_DEFAULT, "wolfSSL_pending");
    gnutls_pending = (count_pending)dlsym(RTLD_DEFAULT, "gnutls_record_check_pending");
    mbedtls_pending = (count_pending)dlsym(RTLD_DEFAULT, "mbedtls_ssl_get_bytes_avail");
}

// SSL_CTRL_CLEAR_MODE, SSL_MODE_AUTO_RETRY
static const int clear_mode = 78, auto_retry = 4;

// Called for each message of a handshake, and for each that comes after it.
static void bound_messages(void *session, int where, int value) {
    // SSL_CB_CONNECT_LOOP: a message is read.
    const int reads_message = 0x1001;
    // A handshake and the tickets behind it are smaller.
    const uint64_t start_of_connection = 65536;
    (void)value;
    if (where != reads_message || openssl_count_read(openssl_read_bio(session)) <= start_of_connection) return;
    openssl_control(session, clear_mode, auto_retry, 0);
}

static CURLcode bound_reads(CURL *easy, void *context, void *user) {
    struct curl_tlssessioninfo *info = 0;
    (void)user;
    pthread_once(&once, look_up);
    // The context is that of the TLS library in use.
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) || !info) return CURLE_OK;
    if (info->backend != CURLSSLBACKEND_OPENSSL) return CURLE_OK;
    if (openssl_observe && openssl_control && openssl_read_bio && openssl_count_read)
        openssl_observe(context, bound_messages);
    return CURLE_OK;
}

void refrain_bound_tls_reads(CURL *easy) {
    curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, bound_reads);
}

static struct curl_tlssessioninfo *session_of(CURL *easy) {
    struct curl_tlssessioninfo *info = 0;
    pthread_once(&once, look_up);
    return curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) || !info || !info->internals ? 0 : info;
}

int refrain_tls_was_ended(CURL *easy) {
    const int received_close_notify = 2;
    const struct curl_tlssessioninfo *info = session_of(easy);
    if (!info || info->backend != CURLSSLBACKEND_OPENSSL || !openssl_shutdown) return -1;
    return (openssl_shutdown(info->internals) & received_close_notify) != 0;
}

int refrain_tls_holds_data(CURL *easy) {
    const struct curl_tlssessioninfo *info = session_of(easy);
    if (!info) return 0;
    switch (info->backend) {
    case CURLSSLBACKEND_OPENSSL: return openssl_pending ? openssl_pending(info->internals) > 0 : -1;
    case CURLSSLBACKEND_GNUTLS: return gnutls_pending ? gnutls_pending(info->internals) > 0 : -1;
    case CURLSSLBACKEND_WOLFSSL: return wolfssl_pending ? wolfssl_pending(info->internals) > 0 : -1;
    case CURLSSLBACKEND_MBEDTLS: return mbedtls_pending ? mbedtls_pending(info->internals) > 0 : -1;
    default: return -1;
    }
}
