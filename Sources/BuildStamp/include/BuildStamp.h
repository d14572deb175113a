// SPDX-License-Identifier: Apache-2.0
#ifndef REFRAIN_BUILD_STAMP_H
#define REFRAIN_BUILD_STAMP_H

/// The commit that was built, or an empty text where the build was not told.
///
/// C, because a definition on the command line can carry a text here, which in Swift it cannot.
const char *refrain_build_commit(void);

#endif
