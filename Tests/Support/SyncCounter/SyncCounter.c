// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "SyncCounter.h"

#ifdef __linux__
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most_paths = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char paths[most_paths][PATH_MAX];
static int syncs[most_paths];
static int path_count;

int sync_counter_watch(const char *path) {
    int number = -1;
    pthread_mutex_lock(&mutex);
    if (path_count < most_paths && strlen(path) < PATH_MAX) {
        number = path_count++;
        strcpy(paths[number], path);
    }
    pthread_mutex_unlock(&mutex);
    return number;
}

int sync_counter_syncs(int number) {
    pthread_mutex_lock(&mutex);
    int count = number >= 0 && number < path_count ? syncs[number] : 0;
    pthread_mutex_unlock(&mutex);
    return count;
}

static void count(int descriptor) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = 0;
    pthread_mutex_lock(&mutex);
    for (int number = 0; number < path_count; number++)
        if (strncmp(path, paths[number], strlen(paths[number])) == 0) syncs[number]++;
    pthread_mutex_unlock(&mutex);
}

// The dynamic linker takes these for those of the C library, since they are in the program.
int fsync(int descriptor) {
    int result = (int)syscall(SYS_fsync, descriptor);
    if (result == 0) count(descriptor);
    return result;
}

int fdatasync(int descriptor) {
    int result = (int)syscall(SYS_fdatasync, descriptor);
    if (result == 0) count(descriptor);
    return result;
}
#endif
