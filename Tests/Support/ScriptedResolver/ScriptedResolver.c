// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "ScriptedResolver.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

enum { most_names = 64, most_addresses = 8, longest = 64 };

typedef struct {
    char name[longest];
    char addresses[most_addresses][longest];
    size_t count;
    int lookups;
    // Of those, the ones for IPv4 alone and for IPv6 alone.
    int lookups4, lookups6;
    // The first look-up that is held, from 1; 0 where none is.
    int first_held;
} script;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static script scripts[most_names];
static size_t script_count;

// With the mutex locked.
static script *find(const char *name) {
    for (size_t index = 0; index < script_count; index++)
        if (strcasecmp(scripts[index].name, name) == 0) return &scripts[index];
    return NULL;
}

int scripted_resolver_set(const char *name, const char *const *addresses, size_t count) {
    int done = 0;
    pthread_mutex_lock(&mutex);
    script *found = find(name);
    if (found == NULL && script_count < most_names) found = &scripts[script_count++];
    if (found != NULL && strlen(name) < longest && count <= most_addresses) {
        memset(found, 0, sizeof *found);
        strncpy(found->name, name, longest - 1);
        for (size_t index = 0; index < count; index++) strncpy(found->addresses[index], addresses[index], longest - 1);
        found->count = count;
        done = 1;
    }
    pthread_mutex_unlock(&mutex);
    return done;
}

int scripted_resolver_hold(const char *name, int first) {
    pthread_mutex_lock(&mutex);
    script *found = find(name);
    if (found != NULL) found->first_held = first;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&mutex);
    return found != NULL;
}

int scripted_resolver_lookups(const char *name) {
    pthread_mutex_lock(&mutex);
    script *found = find(name);
    int lookups = found != NULL ? found->lookups : 0;
    pthread_mutex_unlock(&mutex);
    return lookups;
}

// Counts a look-up, and returns how many there were before it, with the mutex locked. libcurl from 8.20 on asks for
// each family by itself, at the same time: the two are one look-up, and get the same answer.
static int begin_lookup(script *found, const struct addrinfo *hints) {
    int family = hints != NULL ? hints->ai_family : AF_UNSPEC;
    if (family != AF_INET && family != AF_INET6) return found->lookups++;
    int index = family == AF_INET ? found->lookups4++ : found->lookups6++;
    if (found->lookups <= index) found->lookups = index + 1;
    return index;
}

typedef int (*resolver)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

/// Takes the place of the C library's function, also for libcurl: the program's own definition comes first.
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    resolver next = (resolver)dlsym(RTLD_NEXT, "getaddrinfo");
    if (next == NULL) return EAI_SYSTEM;
    char address[longest] = "";
    int is_unknown = 0;
    pthread_mutex_lock(&mutex);
    script *found = name != NULL ? find(name) : NULL;
    if (found != NULL) {
        is_unknown = found->count == 0;
        size_t index = (size_t)begin_lookup(found, hints);
        while (found->first_held > 0 && index + 1 >= (size_t)found->first_held) pthread_cond_wait(&released, &mutex);
        if (index >= found->count) index = found->count - 1;
        if (!is_unknown) memcpy(address, found->addresses[index], longest);
    }
    pthread_mutex_unlock(&mutex);
    if (is_unknown) return EAI_NONAME;
    if (strcmp(address, "again") == 0) return EAI_AGAIN;
    return next(found != NULL ? address : name, service, hints, result);
}
