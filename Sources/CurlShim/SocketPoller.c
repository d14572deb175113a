// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CurlShim.h"

#ifdef __linux__
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

// libcurl's socket interface: libcurl names the sockets that it waits for, and is called only for those on which
// something has happened. curl_multi_perform calls poll() for each transfer instead, which takes the more time the more
// transfers are open.

enum { events_at_a_time = 256 };

struct refrain_poller {
    CURLM *multi;
    int epoll, wakeup;
    // When libcurl is to be called without an event, in milliseconds of the monotonic clock; -1: never.
    int64_t due;
    int count;
    struct epoll_event events[events_at_a_time];
};

static int64_t milliseconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int note_socket(CURL *easy, curl_socket_t socket, int what, void *user, void *known) {
    refrain_poller *poller = user;
    struct epoll_event event = {.data.fd = socket};
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(poller->epoll, EPOLL_CTL_DEL, socket, 0);
        return 0;
    }
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    if (epoll_ctl(poller->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event))
        epoll_ctl(poller->epoll, known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
    if (!known) curl_multi_assign(poller->multi, socket, poller);
    return 0;
}

static int note_timer(CURLM *multi, long milliseconds, void *user) {
    refrain_poller *poller = user;
    (void)multi;
    poller->due = milliseconds < 0 ? -1 : milliseconds_now() + milliseconds;
    return 0;
}

refrain_poller *refrain_poller_make(CURLM *multi) {
    refrain_poller *poller = calloc(1, sizeof *poller);
    if (!poller) return 0;
    *poller = (refrain_poller){.multi = multi, .due = -1};
    poller->epoll = epoll_create1(EPOLL_CLOEXEC);
    poller->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = -1};
    if (poller->epoll < 0 || poller->wakeup < 0 || epoll_ctl(poller->epoll, EPOLL_CTL_ADD, poller->wakeup, &event)) {
        refrain_poller_free(poller);
        return 0;
    }
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, note_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, poller);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, note_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, poller);
    return poller;
}

void refrain_poller_free(refrain_poller *poller) {
    if (!poller) return;
    if (poller->epoll >= 0) close(poller->epoll);
    if (poller->wakeup >= 0) close(poller->wakeup);
    free(poller);
}

void refrain_poller_wait(refrain_poller *poller, int milliseconds) {
    if (poller->due >= 0) {
        const int64_t left = poller->due - milliseconds_now();
        if (left < milliseconds) milliseconds = left < 0 ? 0 : (int)left;
    }
    poller->count = epoll_wait(poller->epoll, poller->events, events_at_a_time, milliseconds);
}

void refrain_poller_wake(refrain_poller *poller) {
    const uint64_t one = 1;
    if (write(poller->wakeup, &one, sizeof one) < 0) return;
}

void refrain_poller_perform(refrain_poller *poller, bool all, int *running) {
    const int count = poller->count < 0 ? 0 : poller->count;
    poller->count = 0;
    // Also lists the sockets of all transfers. It is deprecated for being slow, which is why it is called rarely.
    if (all) {
        poller->due = -1;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        curl_multi_socket_all(poller->multi, running);
#pragma GCC diagnostic pop
        return;
    }
    for (int index = 0; index < count; index++) {
        const struct epoll_event *event = &poller->events[index];
        int mask = 0;
        if (event->data.fd < 0) {
            uint64_t wakeups;
            if (read(poller->wakeup, &wakeups, sizeof wakeups) < 0) continue;
            continue;
        }
        if (event->events & EPOLLIN) mask |= CURL_CSELECT_IN;
        if (event->events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
        if (event->events & (EPOLLERR | EPOLLHUP)) mask |= CURL_CSELECT_ERR;
        curl_multi_socket_action(poller->multi, event->data.fd, mask, running);
    }
    // Transfers that were added or resumed are due at once.
    if (poller->due >= 0 && poller->due <= milliseconds_now()) {
        poller->due = -1;
        curl_multi_socket_action(poller->multi, CURL_SOCKET_TIMEOUT, 0, running);
    }
}
#else
refrain_poller *refrain_poller_make(CURLM *multi) { (void)multi; return 0; }
void refrain_poller_free(refrain_poller *poller) { (void)poller; }
void refrain_poller_wait(refrain_poller *poller, int milliseconds) { (void)poller; (void)milliseconds; }
void refrain_poller_wake(refrain_poller *poller) { (void)poller; }
void refrain_poller_perform(refrain_poller *poller, bool all, int *running) { (void)poller; (void)all; (void)running; }
#endif
