// SPDX-License-Identifier: Apache-2.0
#include "LibFuzzer.h"
