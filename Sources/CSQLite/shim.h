// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

// Has SQLite keep no account of its memory, which would take a lock for each piece of it. Before the first database is
// opened; later it is refused, and changes nothing. (The function takes any number of arguments, which Swift cannot
// call.)
static inline void refrain_sqlite_keep_no_account(void) { (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
