// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CurlShim.h"

#ifdef __linux__
#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// libcurl (7.88) creates the pair of sockets that wakes curl_multi_poll without FD_CLOEXEC, and does not expose them. A
// program that a child executes would keep them open. They are identified by their behaviour: of all inheritable
// sockets, after a wake-up one has a single unread byte of value 1, and the other one an unsent byte.

typedef struct {
    int descriptor;
    int may_receive;
    int may_send;
} candidate;

static int count_unread(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) ? -1 : count;
}

static int count_unsent(int descriptor) {
    int count = 0;
    return ioctl(descriptor, SIOCOUTQ, &count) ? -1 : count;
}

static int may_be_wakeup(int descriptor) {
    int domain = 0, type = 0;
    socklen_t length = sizeof domain;
    int flags = fcntl(descriptor, F_GETFD);
    if (flags < 0 || flags & FD_CLOEXEC) return 0;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) || domain != AF_UNIX) return 0;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) || type != SOCK_STREAM) return 0;
    return (fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0;
}

static int holds_wakeups(int descriptor) {
    char bytes[3];
    ssize_t count = recv(descriptor, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    return (count == 1 || count == 2) && bytes[0] == 1 && bytes[count - 1] == 1;
}

static size_t list_candidates(candidate **list) {
    size_t count = 0, room = 0;
    struct dirent *entry;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    while ((entry = readdir(folder))) {
        int descriptor = atoi(entry->d_name);
        if (descriptor <= 2 || !may_be_wakeup(descriptor)) continue;
        if (count == room) {
            candidate *larger = realloc(*list, (room = room * 2 + 16) * sizeof **list);
            if (!larger) break;
            *list = larger;
        }
        (*list)[count++] = (candidate){descriptor, count_unread(descriptor) == 0, count_unsent(descriptor) == 0};
    }
    closedir(folder);
    return count;
}

void refrain_hide_wakeup_from_children(CURLM *multi) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    candidate *list = 0;
    pthread_mutex_lock(&mutex);
    size_t count = list_candidates(&list);
    // Twice, so that a byte that arrives elsewhere at this moment is not taken for a wake-up.
    for (int round = 1; round <= 2 && count; round++) {
        if (curl_multi_wakeup(multi) != CURLM_OK) break;
        for (size_t index = 0; index < count; index++) {
            candidate *each = &list[index];
            int unread = count_unread(each->descriptor);
            each->may_receive = each->may_receive && unread >= 1 && unread <= round && holds_wakeups(each->descriptor);
            each->may_send = each->may_send && count_unsent(each->descriptor) > 0;
            if (round == 2 && (each->may_receive || each->may_send)) fcntl(each->descriptor, F_SETFD, FD_CLOEXEC);
        }
    }
    free(list);
    pthread_mutex_unlock(&mutex);
}
#else
void refrain_hide_wakeup_from_children(CURLM *multi) { (void)multi; }
#endif
