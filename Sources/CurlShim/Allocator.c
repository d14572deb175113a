#include "CurlShim.h"

#include <stdlib.h>

#ifdef __GLIBC__
// glibc gives free memory at the end of a heap back to the kernel, from 128 KB on at first. Every large body is then
// paid for with a page fault for each of its pages, which costs more than to receive it. The limits adapt themselves:
// a block that came from mmap and is freed raises the first limit to its own size, and the one of the heaps to twice
// that. This is such a block, as large as counts (DEFAULT_MMAP_THRESHOLD_MAX); its pages are never touched. Where the
// program or its environment has set limits, they stay.
void refrain_keep_freed_memory(void) {
    const size_t most = 32u << 20;
    // With its header the block must stay below the most.
    void *volatile block = malloc(most - (64u << 10));
    free(block);
}
#else
void refrain_keep_freed_memory(void) {}
#endif
