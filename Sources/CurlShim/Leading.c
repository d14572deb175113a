// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CurlShim.h"

#include <errno.h>
#include <sys/select.h>
#include <time.h>

// Only the loop's thread blocks all signals. If TLS is written to a connection that the peer has closed, which some
// libraries do with write(), the kernel raises SIGPIPE for the writing thread.

void refrain_hold_pipe_signal(refrain_held_signal *held) {
    sigset_t pipe, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigemptyset(&held->before);
    pthread_sigmask(SIG_BLOCK, &pipe, &held->before);
    held->was_held = sigismember(&held->before, SIGPIPE) == 1;
    // A signal that is already pending was blocked by the program and stays pending.
    held->had_come = held->was_held && sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

void refrain_release_pipe_signal(const refrain_held_signal *held) {
    sigset_t pipe, pending;
    if (held->had_come) return;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1) {
#ifdef __APPLE__
        int number;
        sigwait(&pipe, &number);
#else
        const struct timespec now = {0, 0};
        while (sigtimedwait(&pipe, 0, &now) < 0 && errno == EINTR) {}
#endif
    }
    if (!held->was_held) pthread_sigmask(SIG_SETMASK, &held->before, 0);
}

// libcurl 8.9 sets the action to the default at each call. The previous action is stored once for all threads that are
// in such calls: a thread that began during another one's call would store the action that libcurl has set.
static pthread_mutex_t action_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction action_before;
static unsigned holders;

void refrain_hold_pipe_action(void) {
    pthread_mutex_lock(&action_mutex);
    if (holders++ == 0) sigaction(SIGPIPE, 0, &action_before);
    pthread_mutex_unlock(&action_mutex);
}

void refrain_restore_pipe_action(void) {
    pthread_mutex_lock(&action_mutex);
    holders--;
    sigaction(SIGPIPE, &action_before, 0);
    pthread_mutex_unlock(&action_mutex);
}

bool refrain_list_sockets(CURLM *multi, refrain_sockets *sockets) {
    fd_set errors;
    FD_ZERO(&sockets->to_read);
    FD_ZERO(&sockets->to_write);
    FD_ZERO(&errors);
    sockets->highest = -1;
    // libcurl omits sockets beyond FD_SETSIZE.
    return curl_multi_fdset(multi, &sockets->to_read, &sockets->to_write, &errors, &sockets->highest) == CURLM_OK &&
           sockets->highest >= 0;
}

bool refrain_wait_for_sockets(refrain_sockets *sockets, int64_t nanoseconds) {
    const struct timespec limit = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    return pselect(sockets->highest + 1, &sockets->to_read, &sockets->to_write, 0, &limit, 0) > 0;
}
