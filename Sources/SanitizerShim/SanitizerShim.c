#include "SanitizerShim.h"

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if __has_feature(thread_sanitizer)
// Whoever resumes a continuation, the Swift runtime names the task as released by its thread. It names it as acquired
// where the task is scheduled again, but not where it had not been suspended yet and just goes on.

extern void *swift_task_getCurrent(void);
extern void __tsan_acquire(void *address);

void refrain_note_resumption(void) { __tsan_acquire(swift_task_getCurrent()); }
#else
void refrain_note_resumption(void) {}
#endif
