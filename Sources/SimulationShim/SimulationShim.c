// SPDX-License-Identifier: Apache-2.0
// Two things that Swift cannot express: the runtime's hook for the global executor, whose functions have Swift's
// calling convention, and a thread whose CPU time another thread reads.
#define _GNU_SOURCE
#include "SimulationShim.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#if defined(__APPLE__)
#include <mach/mach.h>
#endif

#define SWIFT_CALL __attribute__((swiftcall))

typedef void (*enqueue_original)(void *job) SWIFT_CALL;
typedef void (*enqueue_hook)(void *job, enqueue_original original) SWIFT_CALL;

// The runtime calls this function, where there is one, in the place of its own.
extern enqueue_hook swift_task_enqueueGlobal_hook;

// Atomic, since every thread that enqueues a job reads it. The runtime reads its own pointer without an order, so a
// thread may see the hook before this; it then goes by the runtime's own way, which is right as well.
static enqueue_hook previous_hook;
static refrain_simulation_receiver job_receiver;
static pthread_mutex_t install_mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread void *current_simulation;

SWIFT_CALL static void enqueue(void *job, enqueue_original original) {
    if (current_simulation) {
        job_receiver(current_simulation, job);
        return;
    }
    enqueue_hook previous = __atomic_load_n(&previous_hook, __ATOMIC_RELAXED);
    if (previous) {
        previous(job, original);
    } else {
        original(job);
    }
}

void refrain_simulation_install(refrain_simulation_receiver receiver) {
    pthread_mutex_lock(&install_mutex);
    if (!job_receiver) {
        job_receiver = receiver;
        __atomic_store_n(&previous_hook, swift_task_enqueueGlobal_hook, __ATOMIC_RELAXED);
        __atomic_store_n(&swift_task_enqueueGlobal_hook, enqueue, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&install_mutex);
}

void *refrain_simulation_current(void) { return current_simulation; }

static int64_t nanoseconds_of(struct timespec time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec; }

int64_t refrain_simulation_cpu_time(void) {
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return nanoseconds_of(time);
}

static int64_t monotonic_time(void) {
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return nanoseconds_of(time);
}

void refrain_simulation_pause(int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&time, NULL);
}

typedef struct {
    refrain_simulation_thread thread;
    pthread_mutex_t mutex;
    pthread_cond_t finished;
    bool is_finished;
} watched_thread;

static int64_t cpu_time_of(pthread_t thread) {
#if defined(__APPLE__)
    thread_basic_info_data_t info;
    mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;
    if (thread_info(pthread_mach_thread_np(thread), THREAD_BASIC_INFO, (thread_info_t)&info, &count)) return 0;
    return ((int64_t)info.user_time.seconds + info.system_time.seconds) * 1000000000
        + ((int64_t)info.user_time.microseconds + info.system_time.microseconds) * 1000;
#else
    clockid_t clock;
    struct timespec time;
    if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &time)) return 0;
    return nanoseconds_of(time);
#endif
}

static void *work(void *argument) {
    watched_thread *watched = argument;
    current_simulation = watched->thread.simulation;
    watched->thread.body(watched->thread.context);
    current_simulation = NULL;
    pthread_mutex_lock(&watched->mutex);
    watched->is_finished = true;
    pthread_cond_signal(&watched->finished);
    pthread_mutex_unlock(&watched->mutex);
    return NULL;
}

// Waits for 50 ms or until the simulation has finished; returns whether it has.
static bool wait_a_while(watched_thread *watched) {
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += 50000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_sec += 1;
        deadline.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&watched->mutex);
    if (!watched->is_finished) pthread_cond_timedwait(&watched->finished, &watched->mutex, &deadline);
    bool is_finished = watched->is_finished;
    pthread_mutex_unlock(&watched->mutex);
    return is_finished;
}

static void *watch(void *argument) {
    watched_thread *watched = argument;
    const refrain_simulation_thread *thread = &watched->thread;
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, watched)) {
        // Without a second thread the simulation runs here, unwatched.
        work(watched);
    } else {
        int64_t progress = -1, cpu = 0, wall = 0;
        bool has_stalled = false;
        while (!wait_a_while(watched)) {
            int64_t progress_now = thread->progress(thread->context);
            int64_t cpu_now = cpu_time_of(worker), wall_now = monotonic_time();
            if (progress_now != progress) {
                progress = progress_now;
                cpu = cpu_now;
                wall = wall_now;
            } else if (!has_stalled && (cpu_now - cpu > thread->cpu_limit || wall_now - wall > thread->wall_limit)) {
                has_stalled = true;
                thread->stalled(thread->context);
            }
        }
        pthread_join(worker, NULL);
    }
    thread->finished(thread->context);
    pthread_cond_destroy(&watched->finished);
    pthread_mutex_destroy(&watched->mutex);
    free(watched);
    return NULL;
}

bool refrain_simulation_start(const refrain_simulation_thread *thread) {
    watched_thread *watched = calloc(1, sizeof *watched);
    if (!watched) return false;
    watched->thread = *thread;
    pthread_mutex_init(&watched->mutex, NULL);
    pthread_cond_init(&watched->finished, NULL);
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch, watched)) {
        pthread_cond_destroy(&watched->finished);
        pthread_mutex_destroy(&watched->mutex);
        free(watched);
        return false;
    }
    pthread_detach(watcher);
    return true;
}
