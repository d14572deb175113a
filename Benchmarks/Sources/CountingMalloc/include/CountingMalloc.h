// SPDX-License-Identifier: Apache-2.0
#ifndef COUNTINGMALLOC_H
#define COUNTINGMALLOC_H

#include <stdint.h>

// How often the process has asked for memory since it began. The library stands before the C library's own functions
// (LD_PRELOAD), counts, and passes on; memory that is given back is not counted.
int64_t counting_malloc_count(void);

// How often it has read a clock, and asked the system for random bytes.
int64_t counting_clock_count(void);
int64_t counting_random_count(void);

#endif
