// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CurlShim.h"

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#if defined(__linux__) && __has_include(<linux/tcp.h>)
#include <linux/tcp.h>
#define counts_bytes 1
#else
#define counts_bytes 0
#endif

// libcurl reads a connection until there is data for a transfer, or nothing to read. A peer that sends what has no data
// for any transfer (frames of HTTP/2 such as PING, SETTINGS or WINDOW_UPDATE), as fast as it is read, keeps it in there
// for ever. A second thread notices that, finds the connection by the bytes that are read from it meanwhile, and shuts
// it down.

enum { looks_before_parking = 20, samples = 3 };
static const long look_interval = 40 * 1000000L, sample_interval = 10 * 1000000L;

struct refrain_watch {
    // Odd while the loop is in libcurl; grows with each entry, exit and delivery.
    _Atomic uint64_t steps;
    // The rest is used with the mutex below.
    uint64_t seen;
    int stalls;
    curl_socket_t *sockets;
    size_t count, room;
    struct refrain_watch *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t entered = PTHREAD_COND_INITIALIZER;
static struct refrain_watch *watches;
static bool is_running;
static _Atomic bool is_parked;

refrain_watch *refrain_watch_make(void) {
    refrain_watch *watch = calloc(1, sizeof *watch);
    if (!watch) return 0;
    pthread_mutex_lock(&mutex);
    watch->next = watches;
    watches = watch;
    pthread_mutex_unlock(&mutex);
    return watch;
}

void refrain_watch_free(refrain_watch *watch) {
    if (!watch) return;
    pthread_mutex_lock(&mutex);
    for (refrain_watch **link = &watches; *link; link = &(*link)->next) {
        if (*link != watch) continue;
        *link = watch->next;
        break;
    }
    pthread_mutex_unlock(&mutex);
    free(watch->sockets);
    free(watch);
}

void refrain_watch_add(refrain_watch *watch, curl_socket_t socket) {
    if (!watch) return;
    pthread_mutex_lock(&mutex);
    if (watch->count == watch->room) {
        size_t room = watch->room * 2 + 16;
        curl_socket_t *larger = realloc(watch->sockets, room * sizeof *larger);
        if (larger) (watch->sockets = larger, watch->room = room);
    }
    if (watch->count < watch->room) watch->sockets[watch->count++] = socket;
    pthread_mutex_unlock(&mutex);
}

void refrain_watch_remove(refrain_watch *watch, curl_socket_t socket) {
    if (!watch) return;
    pthread_mutex_lock(&mutex);
    for (size_t index = 0; index < watch->count; index++) {
        if (watch->sockets[index] != socket) continue;
        watch->sockets[index] = watch->sockets[--watch->count];
        break;
    }
    pthread_mutex_unlock(&mutex);
}

static void pause_for(long nanoseconds) {
    const struct timespec time = {0, nanoseconds};
    nanosleep(&time, 0);
}

// The bytes that were read from a socket.
static uint64_t consumed(curl_socket_t socket) {
#if counts_bytes
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    int unread = 0;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) || ioctl(socket, FIONREAD, &unread)) return 0;
    return info.tcpi_bytes_received - (uint64_t)unread;
#else
    (void)socket;
    return 0;
#endif
}

static bool is_at(refrain_watch *watch, uint64_t steps) { return atomic_load(&watch->steps) == steps; }

// Shuts down the connections from which the loop has read all the time without a delivery; with the mutex locked.
static void break_flood(refrain_watch *watch, uint64_t steps) {
    uint64_t *before = malloc((watch->count + 1) * sizeof *before);
    bool *floods = malloc((watch->count + 1) * sizeof *floods);
    if (before && floods) {
        for (size_t index = 0; index < watch->count; index++) {
            before[index] = consumed(watch->sockets[index]);
            floods[index] = true;
        }
        for (int sample = 0; sample < samples && is_at(watch, steps); sample++) {
            pause_for(sample_interval);
            for (size_t index = 0; index < watch->count; index++) {
                uint64_t now = consumed(watch->sockets[index]);
                floods[index] = floods[index] && now > before[index];
                before[index] = now;
            }
        }
        // The sockets are open: the loop, which is still in libcurl, closes none without the mutex.
        for (size_t index = 0; index < watch->count && is_at(watch, steps); index++)
            if (floods[index]) shutdown(watch->sockets[index], SHUT_RDWR);
    }
    free(before);
    free(floods);
}

static void *watch_all(void *unused) {
    int quiet = 0;
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;) {
        pthread_mutex_unlock(&mutex);
        pause_for(look_interval);
        pthread_mutex_lock(&mutex);
        bool is_active = false;
        for (refrain_watch *watch = watches; watch; watch = watch->next) {
            uint64_t steps = atomic_load(&watch->steps);
            watch->stalls = steps & 1 && steps == watch->seen ? watch->stalls + 1 : 0;
            if (watch->stalls >= 2) break_flood(watch, steps);
            is_active = is_active || steps & 1 || steps != watch->seen;
            watch->seen = steps;
        }
        quiet = is_active ? 0 : quiet + 1;
        if (quiet < looks_before_parking) continue;
        // A loop that enters libcurl from here on finds that the thread waits.
        atomic_store(&is_parked, true);
        bool has_entered = false;
        for (refrain_watch *watch = watches; watch; watch = watch->next)
            has_entered = has_entered || atomic_load(&watch->steps) != watch->seen;
        while (!has_entered && atomic_load(&is_parked)) pthread_cond_wait(&entered, &mutex);
        atomic_store(&is_parked, false);
        quiet = 0;
    }
    return 0;
}

static void wake_or_start(void) {
    pthread_mutex_lock(&mutex);
    if (is_running) {
        atomic_store(&is_parked, false);
        pthread_cond_signal(&entered);
    } else {
        pthread_t thread;
        sigset_t everything, before;
        sigfillset(&everything);
        pthread_sigmask(SIG_SETMASK, &everything, &before);
        // Without a thread, the next entry tries again.
        is_running = pthread_create(&thread, 0, watch_all, 0) == 0;
        pthread_sigmask(SIG_SETMASK, &before, 0);
        if (is_running) {
            pthread_detach(thread);
            refrain_name_thread(thread, "refrain-watch");
        }
        atomic_store(&is_parked, !is_running);
    }
    pthread_mutex_unlock(&mutex);
}

void refrain_watch_enter(refrain_watch *watch) {
    static _Atomic bool was_started;
    if (!watch) return;
    atomic_fetch_add(&watch->steps, 1);
    if (!atomic_load(&is_parked) && atomic_exchange(&was_started, true)) return;
    wake_or_start();
}

void refrain_watch_exit(refrain_watch *watch) {
    if (watch) atomic_fetch_add(&watch->steps, 1);
}

void refrain_watch_deliver(refrain_watch *watch) {
    if (watch) atomic_store_explicit(&watch->steps, atomic_load_explicit(&watch->steps, memory_order_relaxed) + 2,
                                     memory_order_relaxed);
}
