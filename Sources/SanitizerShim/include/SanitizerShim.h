#ifndef SANITIZER_SHIM_H
#define SANITIZER_SHIM_H

/// Tells the thread sanitizer that all of what came before the present task's resumption was before what comes now.
///
/// Does nothing in a build without that sanitizer.
void refrain_note_resumption(void);

#endif
