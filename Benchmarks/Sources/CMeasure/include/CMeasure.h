// SPDX-License-Identifier: Apache-2.0
#ifndef CMEASURE_H
#define CMEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The measurements of every client: the same arguments, the same clocks, the same line of JSON.
//
//   CLIENT URL REQUESTS CONCURRENCY [--seconds S] [--warmup N] [--ca FILE] [--rest S] [--hosts N]
//     [--open N --open-url URL]
//
// REQUESTS is how many are made at most; with --seconds no request begins later than that.

typedef struct {
    const char *url;
    int64_t requests;
    int64_t concurrency;
    // Requests that are made, and not measured, before the others. By default one for each in flight.
    int64_t warmup;
    // The certificates to trust (PEM), or NULL.
    const char *ca;
    /// The number of hosts to which the requests go in turn.
    int64_t hosts;
    /// The number of slow responses that are open meanwhile.
    int64_t open;
    /// Where these are requested, or NULL.
    const char *open_url;
} bench_arguments;

// Reads the arguments; ends the process with status 2 and a message where they are wrong.
bench_arguments bench_parse(int argc, char *const argv[]);

/// The URL of a request: hosts after the first one are further addresses of loopback.
void bench_url(const bench_arguments *arguments, int64_t number, char *output, size_t size);

// Monotonic time in nanoseconds.
int64_t bench_now(void);

// Begins a phase of so many requests; `measured` phases keep the latency of each, in memory that is touched before.
void bench_begin(int64_t requests, bool measured);

// The number of the next request, from 0; negative when all are taken or the time is up. From any thread.
int64_t bench_next(void);

// Notes the end of a request: its number, when it began, and the bytes of its body, negative if it failed.
void bench_done(int64_t number, int64_t began, int64_t bytes);

// Ends the phase and prints the line.
void bench_report(const char *client);

// The counts of the counting library so far; all -1 if it is not loaded.
typedef struct {
    int64_t mallocs;
    int64_t clock_reads;
    int64_t random_reads;
} bench_counts;

bench_counts bench_counts_now(void);

// Sorts, and returns the value below which this share of all values lies.
int64_t bench_percentile(int64_t *values, int64_t count, double share);

// For processes that are not clients: what the whole process has used until now.
typedef struct {
    double cpu_seconds;
    int64_t context_switches;
    int64_t mallocs;           // -1 where they are not counted
    int64_t resident_bytes;
    int64_t peak_bytes;
    int64_t file_descriptors;
} bench_usage;

bench_usage bench_usage_now(void);

#endif
