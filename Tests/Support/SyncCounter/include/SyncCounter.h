// SPDX-License-Identifier: Apache-2.0
#ifndef SYNC_COUNTER_H
#define SYNC_COUNTER_H

/// Begins to count the files that this process brings to the disk with fsync or fdatasync, those of libraries included.
///
/// Returns a number for `sync_counter_syncs`, or -1 without room for the path.
int sync_counter_watch(const char *path);

/// How often a file whose path begins with that of `sync_counter_watch` was synced since then.
int sync_counter_syncs(int number);

#endif
