// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CurlShim.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

CURLcode refrain_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode refrain_set_offset(CURL *easy, CURLoption option, int64_t value) {
    return curl_easy_setopt(easy, option, (curl_off_t)value);
}

CURLcode refrain_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}

// Options by their numbers, because the headers can be older than the library, or newer.
CURLcode refrain_limit_protocols(CURL *easy) {
    const CURLoption names = (CURLoption)10318, bits = (CURLoption)181;
    const long http = 1 << 0, https = 1 << 1;
    // CURLOPT_PROTOCOLS_STR replaces CURLOPT_PROTOCOLS from 7.85 on.
    CURLcode code = refrain_set_pointer(easy, names, "http,https");
    return code == CURLE_UNKNOWN_OPTION ? refrain_set_long(easy, bits, http | https) : code;
}

CURLcode refrain_leave_lookups(CURL *easy) {
    const CURLoption quick_exit = (CURLoption)322;
    return refrain_set_long(easy, quick_exit, 1);
}

CURLcode refrain_set_callbacks(CURL *easy, curl_write_callback header, curl_write_callback write,
                               curl_read_callback read, curl_prereq_callback prerequest,
                               curl_opensocket_callback open_socket, void *user) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, user);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, user);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_READFUNCTION, read);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_READDATA, user);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, user);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_PRIVATE, user);
    const CURLoption prereq_function = (CURLoption)20312, prereq_data = (CURLoption)10313;
    if (code || refrain_version() < 0x075000) return code;
    code = curl_easy_setopt(easy, prereq_function, prerequest);
    return code ? code : curl_easy_setopt(easy, prereq_data, user);
}

CURLcode refrain_set_debug(CURL *easy, curl_debug_callback debug, void *user) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, debug);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_DEBUGDATA, user);
    return code;
}

CURLcode refrain_set_progress(CURL *easy, curl_xferinfo_callback progress, void *user) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_XFERINFODATA, user);
    return code;
}

CURLcode refrain_set_close(CURL *easy, curl_closesocket_callback close_socket, void *user) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    return code ? code : curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, user);
}

int refrain_close_socket(curl_socket_t socket) { return close(socket); }

refrain_name_result refrain_look_up(const char *name) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = 0;
    switch (getaddrinfo(name, 0, &hints, &found)) {
    case 0: freeaddrinfo(found); return REFRAIN_NAME_FOUND;
    case EAI_NONAME:
#ifdef EAI_NODATA
#if EAI_NODATA != EAI_NONAME
    case EAI_NODATA:
#endif
#endif
#ifdef EAI_ADDRFAMILY
    case EAI_ADDRFAMILY:
#endif
        return REFRAIN_NAME_UNKNOWN;
    default: return REFRAIN_NAME_UNRESOLVED;
    }
}

CURLcode refrain_set_lookup(CURL *easy, curl_resolver_start_callback begin, void *user) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, begin);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_RESOLVER_START_DATA, user);
    return code;
}

long refrain_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) ? 0 : value;
}

int64_t refrain_get_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) ? 0 : value;
}

void *refrain_get_pointer(CURL *easy, CURLINFO info) {
    void *value = 0;
    return curl_easy_getinfo(easy, info, &value) ? 0 : value;
}

int64_t refrain_connection_number(CURL *easy) {
    // CURLINFO_CONN_ID; earlier headers do not have it.
    const CURLINFO connection_number = (CURLINFO)(CURLINFO_OFF_T + 64);
    curl_off_t value = -1;
    return curl_easy_getinfo(easy, connection_number, &value) ? -1 : value;
}

CURLMcode refrain_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode initialized;

static void initialize(void) {
    const int is_too_old = refrain_version() < refrain_oldest_version;
    initialized = is_too_old ? CURLE_FAILED_INIT : curl_global_init(CURL_GLOBAL_DEFAULT);
    // After libcurl, so that it runs before the handlers of the TLS library.
    refrain_wait_at_exit();
}

CURLcode refrain_global_init(void) {
    pthread_once(&once, initialize);
    return initialized;
}

int refrain_features(void) { return curl_version_info(CURLVERSION_NOW)->features; }

unsigned refrain_version(void) { return curl_version_info(CURLVERSION_NOW)->version_num; }

static __thread void *current_loop;

void refrain_set_current_loop(void *loop) { current_loop = loop; }

void *refrain_current_loop(void) { return current_loop; }

uint64_t refrain_open_files(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) ? 1024 : limit.rlim_cur;
}

void refrain_name_thread(pthread_t thread, const char *name) {
#ifdef __linux__
    pthread_setname_np(thread, name);
#else
    (void)thread;
    (void)name;
#endif
}

curl_socket_t refrain_open_socket(const struct curl_sockaddr *address) {
#ifdef SOCK_CLOEXEC
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
    curl_socket_t opened = socket(address->family, address->socktype, address->protocol);
    if (opened >= 0) fcntl(opened, F_SETFD, FD_CLOEXEC);
    return opened;
#endif
}

const void *refrain_address_bytes(const struct curl_sockaddr *address) { return &address->addr; }

int refrain_has_arrived(curl_socket_t socket) {
    char byte;
    if (recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) return 1;
    return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != EBADF && errno != ENOTSOCK;
}

int refrain_is_quiet(curl_socket_t socket) {
    char byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

long refrain_silence(curl_socket_t socket, long age) {
#ifdef __linux__
    struct tcp_info info;
    socklen_t length = sizeof info;
    int queued = 0;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length)) return 0;
    if (ioctl(socket, TIOCOUTQ, &queued) || queued == 0) return 0;
    // Data that the system could not send, because there is no route to the peer, is not retransmitted either.
    const long silence = info.tcpi_last_ack_recv, a_second = 1000;
    return info.tcpi_retransmits > 0 || (silence >= a_second && age >= a_second) ? silence : 0;
#else
    (void)socket;
    (void)age;
    return 0;
#endif
}

void refrain_end_connection(curl_socket_t socket) { shutdown(socket, SHUT_RDWR); }

int refrain_has_ended(curl_socket_t socket) {
    char byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

int refrain_local_port(curl_socket_t socket) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    socklen_t length = sizeof address;
    if (getsockname(socket, &address.any, &length)) return 0;
    switch (address.any.sa_family) {
    case AF_INET: return ntohs(address.v4.sin_port);
    case AF_INET6: return ntohs(address.v6.sin6_port);
    default: return 0;
    }
}
