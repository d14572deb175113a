#include "CurlShim.h"

#include <zlib.h>

int refrain_deflate(const uint8_t *input, size_t input_count, uint8_t *output, size_t *output_count) {
    uLongf count = *output_count;
    if (compress(output, &count, input, input_count) != Z_OK) return -1;
    *output_count = count;
    return 0;
}

size_t refrain_deflate_bound(size_t input_count) { return compressBound(input_count); }
