// SPDX-License-Identifier: Apache-2.0
#include "CurlShim.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

// exit() runs the handlers of the libraries, among them OpenSSL's, which frees the memory that its threads share. A
// thread that uses libcurl at that time, or that ends, when OpenSSL frees the thread's own memory, uses freed memory: a
// program that was complete was ended by SIGABRT in 1 of 150 runs.

static atomic_int users;
static atomic_bool is_exiting;
static __thread int depth;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t last_to_end;
static bool has_ended;

enum { longest_wait_in_milliseconds = 1000 };

bool refrain_begin_use(void) {
    if (depth > 0) return ++depth;
    atomic_fetch_add(&users, 1);
    if (atomic_load(&is_exiting)) {
        atomic_fetch_sub(&users, 1);
        return false;
    }
    return ++depth;
}

void refrain_end_use(void) {
    if (--depth == 0) atomic_fetch_sub(&users, 1);
}

void refrain_begin_use_or_wait(void) {
    while (!refrain_begin_use()) pause();
}

void refrain_end_thread(void) {
    pthread_mutex_lock(&lock);
    const bool is_first = !has_ended;
    const pthread_t previous = last_to_end;
    last_to_end = pthread_self();
    has_ended = true;
    pthread_mutex_unlock(&lock);
    refrain_end_use();
    // The previous thread has ended, or is about to.
    if (!is_first) pthread_join(previous, NULL);
}

static void wait_for_users(void) {
    // The exiting thread may use libcurl itself, and does not return.
    const int own = depth > 0;
    atomic_store(&is_exiting, true);
    for (int waited = 0; atomic_load(&users) > own && waited < longest_wait_in_milliseconds; waited++) usleep(1000);
    if (atomic_load(&users) > own) return;
    pthread_mutex_lock(&lock);
    const bool must_join = has_ended;
    const pthread_t last = last_to_end;
    pthread_mutex_unlock(&lock);
    if (must_join) pthread_join(last, NULL);
}

// A child process has one thread only.
static void forget_others(void) {
    atomic_store(&users, depth > 0);
    has_ended = false;
}

void refrain_wait_at_exit(void) {
    atexit(wait_for_users);
    pthread_atfork(NULL, NULL, forget_others);
}
