// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CMeasure.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

// One phase at a time. Latencies are in tenths of a microsecond, so that a million of them are four megabytes.
static int64_t phase_requests;
static uint32_t *latencies;
static _Atomic int64_t next_number;
static _Atomic int64_t finished;
static _Atomic int64_t failures;
static _Atomic int64_t body_bytes;
static int64_t phase_began;
// No request begins after this moment.
static int64_t phase_ends;
static double seconds_limit;
// How long the client rests at the end, before its memory is read once more.
static double rest_seconds;
static bench_usage usage_at_begin;
static bench_usage usage_at_tenth;

int64_t bench_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t number_from(const char *text, const char *name) {
    char *end = NULL;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end != 0 || number < 0) {
        fprintf(stderr, "%s is a whole number, not \"%s\"\n", name, text);
        exit(2);
    }
    return number;
}

bench_arguments bench_parse(int argc, char *const argv[]) {
    if (argc < 4) {
        fprintf(stderr, "usage: %s URL REQUESTS CONCURRENCY [--seconds S] [--warmup N] [--ca FILE] [--rest S] [--hosts N] [--open N --open-url URL]\n", argv[0]);
        exit(2);
    }
    bench_arguments arguments = {.url = argv[1], .ca = NULL};
    arguments.requests = number_from(argv[2], "REQUESTS");
    arguments.concurrency = number_from(argv[3], "CONCURRENCY");
    arguments.warmup = arguments.concurrency;
    arguments.hosts = 1;
    for (int index = 4; index + 1 < argc; index += 2) {
        if (strcmp(argv[index], "--warmup") == 0) arguments.warmup = number_from(argv[index + 1], "--warmup");
        else if (strcmp(argv[index], "--seconds") == 0) seconds_limit = strtod(argv[index + 1], NULL);
        else if (strcmp(argv[index], "--ca") == 0) arguments.ca = argv[index + 1];
        else if (strcmp(argv[index], "--open") == 0) arguments.open = number_from(argv[index + 1], "--open");
        else if (strcmp(argv[index], "--rest") == 0) rest_seconds = strtod(argv[index + 1], NULL);
        else if (strcmp(argv[index], "--open-url") == 0) arguments.open_url = argv[index + 1];
        else if (strcmp(argv[index], "--hosts") == 0) arguments.hosts = number_from(argv[index + 1], "--hosts");
        else {
            fprintf(stderr, "unknown argument \"%s\"\n", argv[index]);
            exit(2);
        }
    }
    if (arguments.requests < 1 || arguments.concurrency < 1 || arguments.hosts < 1) {
        fprintf(stderr, "REQUESTS, CONCURRENCY and --hosts are at least 1\n");
        exit(2);
    }
    return arguments;
}

void bench_url(const bench_arguments *arguments, int64_t number, char *output, size_t size) {
    static const char first[] = "127.0.0.1";
    const char *host = strstr(arguments->url, first);
    int index = (int)(number % arguments->hosts);
    if (arguments->hosts == 1 || !host) {
        snprintf(output, size, "%s", arguments->url);
    } else {
        snprintf(output, size, "%.*s127.0.%d.%d%s", (int)(host - arguments->url), arguments->url, index / 250,
                 index % 250 + 1, host + sizeof first - 1);
    }
}

void bench_begin(int64_t requests, bool measured) {
    phase_requests = requests;
    latencies = measured ? malloc((size_t)requests * sizeof *latencies) : NULL;
    if (latencies) memset(latencies, 0xFF, (size_t)requests * sizeof *latencies);
    atomic_store(&next_number, 0);
    atomic_store(&finished, 0);
    atomic_store(&failures, 0);
    atomic_store(&body_bytes, 0);
    usage_at_begin = bench_usage_now();
    usage_at_tenth = usage_at_begin;
    phase_began = bench_now();
    phase_ends = measured && seconds_limit > 0 ? phase_began + (int64_t)(seconds_limit * 1e9) : INT64_MAX;
}

int64_t bench_next(void) {
    if (phase_ends != INT64_MAX && bench_now() > phase_ends) return -1;
    int64_t number = atomic_fetch_add_explicit(&next_number, 1, memory_order_relaxed);
    return number < phase_requests ? number : -1;
}

void bench_done(int64_t number, int64_t began, int64_t bytes) {
    if (latencies) {
        int64_t tenths = (bench_now() - began) / 100;
        latencies[number] = tenths < UINT32_MAX ? (uint32_t)tenths : UINT32_MAX;
    }
    if (bytes < 0) atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
    else atomic_fetch_add_explicit(&body_bytes, bytes, memory_order_relaxed);
    int64_t count = atomic_fetch_add_explicit(&finished, 1, memory_order_relaxed) + 1;
    // A look at the memory after the first tenth, where it should have stopped growing; only where it costs nothing.
    if (latencies && phase_requests >= 100000 && count == phase_requests / 10) usage_at_tenth = bench_usage_now();
}

static int by_value(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static int by_wide_value(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

int64_t bench_percentile(int64_t *values, int64_t count, double share) {
    if (count < 1) return 0;
    qsort(values, (size_t)count, sizeof *values, by_wide_value);
    int64_t index = (int64_t)(share * (double)count);
    return values[index < count ? index : count - 1];
}

static double percentile(double share) {
    int64_t index = (int64_t)(share * (double)phase_requests);
    if (index >= phase_requests) index = phase_requests - 1;
    return latencies[index] / 10.0;
}

void bench_report(const char *client) {
    double seconds = (double)(bench_now() - phase_began) / 1e9;
    bench_usage end = bench_usage_now();
    // All that have begun have ended; the clock may have stopped the others from beginning.
    int64_t done = atomic_load(&finished);
    if (!latencies || done < 1) return;
    phase_requests = done;
    qsort(latencies, (size_t)phase_requests, sizeof *latencies, by_value);
    double mallocs = end.mallocs < 0 ? -1 : (double)(end.mallocs - usage_at_begin.mallocs) / (double)phase_requests;
    printf(
        "{\"client\":\"%s\",\"requests\":%lld,\"failures\":%lld,\"bytes\":%lld,\"seconds\":%.6f,\"rate\":%.1f,"
        "\"cpuPer1000\":%.6f,\"p50Microseconds\":%.1f,\"p99Microseconds\":%.1f,\"switchesPerRequest\":%.4f,"
        "\"peakBytes\":%lld,\"residentAtTenth\":%lld,\"residentAtEnd\":%lld,\"filesAtTenth\":%lld,\"filesAtEnd\":%lld",
        client, (long long)phase_requests, (long long)atomic_load(&failures), (long long)atomic_load(&body_bytes),
        seconds, (double)phase_requests / seconds,
        (end.cpu_seconds - usage_at_begin.cpu_seconds) * 1000 / (double)phase_requests, percentile(0.5),
        percentile(0.99),
        (double)(end.context_switches - usage_at_begin.context_switches) / (double)phase_requests,
        (long long)end.peak_bytes, (long long)usage_at_tenth.resident_bytes, (long long)end.resident_bytes,
        (long long)usage_at_tenth.file_descriptors, (long long)end.file_descriptors
    );
    if (rest_seconds > 0) {
        struct timespec rest = {(time_t)rest_seconds, 0};
        nanosleep(&rest, NULL);
        printf(",\"residentAtBegin\":%lld,\"residentAfterRest\":%lld", (long long)usage_at_begin.resident_bytes,
               (long long)bench_usage_now().resident_bytes);
    }
    if (mallocs >= 0) printf(",\"mallocsPerRequest\":%.3f", mallocs);
    printf("}\n");
    fflush(stdout);
}

// A line of /proc/self/status in bytes; 0 where there is none.
static int64_t status_line(const char *text, const char *name) {
    const char *line = strstr(text, name);
    return line ? strtoll(line + strlen(name), NULL, 10) * 1024 : 0;
}

static int64_t file_descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return -1;
    int64_t count = -1; // the folder's own
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static int64_t counted(const char *name) {
    int64_t (*count)(void) = (int64_t(*)(void))dlsym(RTLD_DEFAULT, name);
    return count ? count() : -1;
}

bench_counts bench_counts_now(void) {
    return (bench_counts){
        .mallocs = counted("counting_malloc_count"),
        .clock_reads = counted("counting_clock_count"),
        .random_reads = counted("counting_random_count"),
    };
}

bench_usage bench_usage_now(void) {
    bench_usage usage = {0};
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    usage.cpu_seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
        + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    usage.context_switches = used.ru_nvcsw + used.ru_nivcsw;
    usage.mallocs = bench_counts_now().mallocs;
    char text[8192] = {0};
    FILE *status = fopen("/proc/self/status", "r");
    if (status) {
        size_t length = fread(text, 1, sizeof text - 1, status);
        text[length] = 0;
        fclose(status);
    }
    usage.resident_bytes = status_line(text, "VmRSS:");
    usage.peak_bytes = status_line(text, "VmHWM:");
    usage.file_descriptors = file_descriptors();
    return usage;
}
