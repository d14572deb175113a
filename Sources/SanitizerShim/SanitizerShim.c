// SPDX-License-Identifier: Apache-2.0
#include "SanitizerShim.h"

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if __has_feature(thread_sanitizer)
// The Swift runtime annotates a task as released by the thread that resumes its continuation. It annotates it as
// acquired when the task is scheduled again, but not if the task had not been suspended yet.

extern void *swift_task_getCurrent(void);
extern void __tsan_acquire(void *address);

void refrain_note_resumption(void) { __tsan_acquire(swift_task_getCurrent()); }
#else
void refrain_note_resumption(void) {}
#endif
