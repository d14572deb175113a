// SPDX-License-Identifier: Apache-2.0
#include "CurlShim.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

// zlib is used directly because libcurl (7.88) accepts a truncated compressed body as complete; zlib reports the end.

struct refrain_inflater {
    z_stream stream;
    int is_gzip;
    int has_begun;
};

refrain_inflater *refrain_inflater_make(int is_gzip) {
    refrain_inflater *inflater = calloc(1, sizeof *inflater);
    if (!inflater) return 0;
    inflater->is_gzip = is_gzip;
    // 16 added to the window size selects gzip's header and trailer instead of zlib's.
    if (inflateInit2(&inflater->stream, is_gzip ? MAX_WBITS + 16 : MAX_WBITS) == Z_OK) return inflater;
    free(inflater);
    return 0;
}

void refrain_inflater_free(refrain_inflater *inflater) {
    if (!inflater) return;
    inflateEnd(&inflater->stream);
    free(inflater);
}

int refrain_inflater_restart(refrain_inflater *inflater) {
    return inflateReset(&inflater->stream) == Z_OK ? 0 : -1;
}

int refrain_inflater_run(refrain_inflater *inflater, const uint8_t *input, size_t *input_count, uint8_t *output,
                         size_t *output_count) {
    z_stream *stream = &inflater->stream;
    if (!inflater->has_begun && *input_count) {
        inflater->has_begun = 1;
        // "deflate" is zlib's format (RFC 9110 section 8.4.1.2), but some servers send raw deflate.
        int is_bare = !inflater->is_gzip && (input[0] & 0x8f) != Z_DEFLATED;
        if (is_bare && inflateReset2(stream, -MAX_WBITS) != Z_OK) return -1;
    }
    uInt given = *input_count > UINT_MAX ? UINT_MAX : (uInt)*input_count;
    uInt room = *output_count > UINT_MAX ? UINT_MAX : (uInt)*output_count;
    stream->next_in = (Bytef *)input;
    stream->avail_in = given;
    stream->next_out = output;
    stream->avail_out = room;
    int result = inflate(stream, Z_NO_FLUSH);
    *input_count = given - stream->avail_in;
    *output_count = room - stream->avail_out;
    if (result == Z_STREAM_END) return 1;
    // Z_BUF_ERROR means that no progress was possible.
    return result == Z_OK || result == Z_BUF_ERROR ? 0 : -1;
}

const char *refrain_inflater_message(const refrain_inflater *inflater) {
    return inflater->stream.msg ? inflater->stream.msg : "it is malformed";
}

int refrain_deflate(const uint8_t *input, size_t input_count, uint8_t *output, size_t *output_count) {
    uLongf count = *output_count;
    if (compress(output, &count, input, input_count) != Z_OK) return -1;
    *output_count = count;
    return 0;
}

size_t refrain_deflate_bound(size_t input_count) { return compressBound(input_count); }
