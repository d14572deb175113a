// SPDX-License-Identifier: Apache-2.0
// libcurl's multi interface from C, written as well as it can be: the yardstick.
//
// Easy handles are reused, and there are never more of them than connections: what is in flight beyond waits in a
// queue of our own, which is far faster than to let libcurl hold ten thousand handles. `curl_multi_poll` by default;
// with BENCH_ENGINE=epoll the socket interface, to see which of both is faster on a machine.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "CMeasure.h"

#define CONNECTIONS 64

typedef struct {
    CURL *easy;
    int64_t number;
    int64_t submitted;
    // The body, in memory that is kept from one request to the next.
    char *bytes;
    size_t length;
    size_t capacity;
} transfer;

// The submission times of the requests that wait for a handle: a ring, first in, first out.
static int64_t *waiting_numbers;
static int64_t *waiting_since;
static int64_t waiting_first;
static int64_t waiting_count;
static int64_t waiting_capacity;

static void submit(int64_t number) {
    int64_t index = (waiting_first + waiting_count++) % waiting_capacity;
    waiting_numbers[index] = number;
    waiting_since[index] = bench_now();
}

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    transfer *one = context;
    size_t length = size * count;
    if (one->length + length > one->capacity) {
        size_t capacity = (one->length + length) * 2;
        char *larger = realloc(one->bytes, capacity);
        if (!larger) return 0;
        one->bytes = larger;
        one->capacity = capacity;
    }
    memcpy(one->bytes + one->length, bytes, length);
    one->length += length;
    return length;
}

static CURL *make_handle(transfer *one, const bench_arguments *arguments) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, arguments->url);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, one);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, one);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 32768L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    // Over HTTP/2 one connection serves all; requests wait while it is being opened.
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, strncmp(arguments->url, "https:", 6) == 0 ? 1L : 0L);
    if (arguments->ca) curl_easy_setopt(easy, CURLOPT_CAINFO, arguments->ca);
    return easy;
}

// Gives a free handle to the request that has waited longest; false where none waits.
static bool start(CURLM *multi, transfer *one, const bench_arguments *arguments) {
    if (waiting_count == 0) return false;
    one->number = waiting_numbers[waiting_first];
    one->submitted = waiting_since[waiting_first];
    waiting_first = (waiting_first + 1) % waiting_capacity;
    waiting_count--;
    one->length = 0;
    if (arguments->hosts > 1) {
        char url[1024];
        bench_url(arguments, one->number, url, sizeof url);
        curl_easy_setopt(one->easy, CURLOPT_URL, url);
    }
    curl_multi_add_handle(multi, one->easy);
    return true;
}

// Takes over what has finished, and starts what comes next; true where something was started.
static bool take_messages(CURLM *multi, int *running_transfers, const bench_arguments *arguments) {
    bool started = false;
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL *easy = message->easy_handle;
        CURLcode result = message->data.result;
        transfer *one = NULL;
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&one);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_multi_remove_handle(multi, easy);
        bench_done(one->number, one->submitted, result == CURLE_OK && status == 200 ? (int64_t)one->length : -1);
        int64_t next = bench_next();
        if (next >= 0) submit(next);
        if (start(multi, one, arguments)) started = true;
        else (*running_transfers)--;
    }
    return started;
}

// The socket interface: libcurl says which sockets it waits for, and epoll says what happens on them.
static int epoll_descriptor = -1;
static long timer_milliseconds = -1;

static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    (void)easy;
    CURLM *multi = context;
    struct epoll_event event = {.data.fd = socket};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(epoll_descriptor, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    epoll_ctl(epoll_descriptor, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    if (!known) curl_multi_assign(multi, socket, (void *)1);
    return 0;
}

static int set_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    (void)context;
    timer_milliseconds = milliseconds;
    return 0;
}

static void drive_by_epoll(CURLM *multi, int *transfers, const bench_arguments *arguments) {
    struct epoll_event events[CONNECTIONS];
    int running = 0;
    while (*transfers > 0) {
        int wait = timer_milliseconds < 0 ? 1000 : (int)timer_milliseconds;
        int count = epoll_wait(epoll_descriptor, events, CONNECTIONS, wait);
        if (count <= 0 || timer_milliseconds == 0) {
            timer_milliseconds = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        for (int index = 0; index < count; index++) {
            int mask = 0;
            if (events[index].events & EPOLLIN) mask |= CURL_CSELECT_IN;
            if (events[index].events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
            if (events[index].events & (EPOLLERR | EPOLLHUP)) mask |= CURL_CSELECT_ERR;
            curl_multi_socket_action(multi, events[index].data.fd, mask, &running);
        }
        take_messages(multi, transfers, arguments);
    }
}

static void drive_by_poll(CURLM *multi, int *transfers, const bench_arguments *arguments) {
    while (*transfers > 0) {
        int running = 0;
        curl_multi_perform(multi, &running);
        if (take_messages(multi, transfers, arguments)) continue;
        if (*transfers > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
}

static void run(CURLM *multi, transfer *all, int64_t handles, int64_t requests, const bench_arguments *arguments,
                bool measured) {
    const int64_t in_flight = arguments->concurrency;
    bench_begin(requests, measured);
    for (int64_t index = 0; index < in_flight; index++) {
        int64_t number = bench_next();
        if (number < 0) break;
        submit(number);
    }
    int transfers = 0;
    for (int64_t index = 0; index < handles; index++) transfers += start(multi, &all[index], arguments);
    if (epoll_descriptor >= 0) drive_by_epoll(multi, &transfers, arguments);
    else drive_by_poll(multi, &transfers, arguments);
}

int main(int argc, char *argv[]) {
    bench_arguments arguments = bench_parse(argc, argv);
    const char *engine = getenv("BENCH_ENGINE");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)(CONNECTIONS + (arguments.hosts > 1 ? arguments.hosts : 0)));
    if (engine && strcmp(engine, "epoll") == 0) {
        epoll_descriptor = epoll_create1(EPOLL_CLOEXEC);
        curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
        curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, multi);
        curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    }
    int64_t handles = arguments.concurrency < CONNECTIONS ? arguments.concurrency : CONNECTIONS;
    waiting_capacity = arguments.concurrency;
    waiting_numbers = calloc((size_t)waiting_capacity, sizeof *waiting_numbers);
    waiting_since = calloc((size_t)waiting_capacity, sizeof *waiting_since);
    transfer *all = calloc((size_t)handles, sizeof *all);
    for (int64_t index = 0; index < handles; index++) all[index].easy = make_handle(&all[index], &arguments);

    if (arguments.warmup > 0) run(multi, all, handles, arguments.warmup, &arguments, false);
    run(multi, all, handles, arguments.requests, &arguments, true);
    bench_report("curl-multi");

    for (int64_t index = 0; index < handles; index++) curl_easy_cleanup(all[index].easy);
    curl_multi_cleanup(multi);
    curl_global_cleanup();
    return 0;
}
