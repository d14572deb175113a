// SPDX-License-Identifier: Apache-2.0
#ifndef SCRIPTED_RESOLVER_H
#define SCRIPTED_RESOLVER_H

#include <stddef.h>

/// Answers look-ups of a name: the first one with the first address, and so on; the last address holds from then on.
///
/// The address `again` stands for a name server that fails or cannot be reached.
/// A name without addresses is never found, whatever the machine's name server does.
///
/// The name is in lower case, the addresses are numbers. Every look-up that this process makes with getaddrinfo is
/// served, those of libraries included; other names are resolved as usual. Returns 0 without room for the name.
int scripted_resolver_set(const char *name, const char *const *addresses, size_t count);

/// Lets look-ups of a name wait, from the `first` on, counted from 1, and those before it go on; 0 lets all go on.
/// Returns 0 for a name that was not set.
int scripted_resolver_hold(const char *name, int first);

/// How often a name was looked up since it was set.
int scripted_resolver_lookups(const char *name);

#endif
