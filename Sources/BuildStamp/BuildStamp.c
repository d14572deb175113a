// SPDX-License-Identifier: Apache-2.0
#include "BuildStamp.h"

#ifndef REFRAIN_COMMIT
#define REFRAIN_COMMIT ""
#endif

const char *refrain_build_commit(void) { return REFRAIN_COMMIT; }
