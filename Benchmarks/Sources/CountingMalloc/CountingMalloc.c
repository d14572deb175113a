// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CountingMalloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t calls;
static _Atomic int64_t clock_reads;
static _Atomic int64_t random_reads;

int64_t counting_malloc_count(void) { return atomic_load_explicit(&calls, memory_order_relaxed); }

int64_t counting_clock_count(void) { return atomic_load_explicit(&clock_reads, memory_order_relaxed); }
int64_t counting_random_count(void) { return atomic_load_explicit(&random_reads, memory_order_relaxed); }

#if defined(__linux__) && defined(__GLIBC__)
// The names under which glibc keeps its functions for libraries that are loaded before it: no look-up, and so none that
// allocates.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void count(void) { atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed); }

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count();
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count();
    *memory = __libc_memalign(alignment, size);
    return *memory || size == 0 ? 0 : ENOMEM;
}

// Slower than the C library's, which asks the kernel's page: these runs are not timed.
int clock_gettime(clockid_t clock, struct timespec *time) {
    atomic_fetch_add_explicit(&clock_reads, 1, memory_order_relaxed);
    return (int)syscall(SYS_clock_gettime, clock, time);
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags) {
    atomic_fetch_add_explicit(&random_reads, 1, memory_order_relaxed);
    return syscall(SYS_getrandom, buffer, length, flags);
}

int getentropy(void *buffer, size_t length) {
    return getrandom(buffer, length, 0) == (ssize_t)length ? 0 : -1;
}

void arc4random_buf(void *buffer, size_t length) {
    for (size_t done = 0; done < length; done += 256) {
        getrandom((char *)buffer + done, length - done < 256 ? length - done : 256, 0);
    }
}
#endif
