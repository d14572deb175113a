// Where the machine has no libpsl there is no list, and callers use their own rule: pkg-config then names no library.
#if __has_include(<libpsl.h>)
#include <libpsl.h>

/// The newest list of the machine: that of the distribution's package, or the one that is built into the library.
static inline const void *refrain_psl_list(void) { return psl_latest(NULL); }

/// Whether a domain in lower case, in its ASCII form, is a public suffix.
static inline int refrain_psl_contains(const void *list, const char *domain) {
    return psl_is_public_suffix2((const psl_ctx_t *)list, domain, PSL_TYPE_ANY);
}
#else
#include <stddef.h>

static inline const void *refrain_psl_list(void) { return NULL; }
static inline int refrain_psl_contains(const void *list, const char *domain) { return 0; }
#endif
