#include "CurlShim.h"

#include <stdlib.h>

#ifdef __GLIBC__
// glibc returns free memory at the end of a heap to the kernel, initially from 128 KB on. Each large body then costs a
// page fault for each of its pages, which costs more than receiving it. The thresholds adapt: freeing a block that came
// from mmap raises the mmap threshold to its size, and the trim threshold to twice that. This block has the maximum
// size that counts (DEFAULT_MMAP_THRESHOLD_MAX); its pages are never touched. Thresholds set by the program or its
// environment are not changed.
void refrain_keep_freed_memory(void) {
    const size_t most = 32u << 20;
    // The block with its header must be smaller than the maximum.
    void *volatile block = malloc(most - (64u << 10));
    free(block);
}
#else
void refrain_keep_freed_memory(void) {}
#endif
