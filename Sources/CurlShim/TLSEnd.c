#define _GNU_SOURCE
#include "CurlShim.h"

#include <dlfcn.h>

// libcurl takes the end of a connection for the end of a body even if TLS was not ended; only OpenSSL reports it. Its
// function is looked up at run time, so that the package needs no OpenSSL headers: in the program itself if it is
// linked statically, otherwise in the libraries that libcurl loaded.

extern int SSL_get_shutdown(const void *session) __attribute__((weak));

typedef int (*get_shutdown)(const void *);

static get_shutdown found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look_up(void) {
    found = SSL_get_shutdown ? SSL_get_shutdown : (get_shutdown)dlsym(RTLD_DEFAULT, "SSL_get_shutdown");
}

int refrain_tls_was_ended(CURL *easy) {
    const int received_close_notify = 2;
    struct curl_tlssessioninfo *info = 0;
    pthread_once(&once, look_up);
    if (!found || curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) || !info) return -1;
    if (info->backend != CURLSSLBACKEND_OPENSSL || !info->internals) return -1;
    return (found(info->internals) & received_close_notify) != 0;
}
