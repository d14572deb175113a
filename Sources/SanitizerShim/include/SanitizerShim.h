// SPDX-License-Identifier: Apache-2.0
#ifndef SANITIZER_SHIM_H
#define SANITIZER_SHIM_H

/// Reports to the thread sanitizer that the resumption of the current task happens before the code that follows.
///
/// Does nothing in a build without the sanitizer.
void refrain_note_resumption(void);

#endif
