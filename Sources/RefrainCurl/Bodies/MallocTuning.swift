internal import CurlShim

/// The tuning of the process's allocator, which ``CurlLoader/Configuration/keepsFreedMemory`` asks for.
enum MallocTuning {
    /// Applies the tuning, once per process.
    ///
    /// Without it glibc returns the memory of a body over 128 KiB to the kernel, and most of the time of a body of 1 MB
    /// is spent in page faults.
    static let apply: Void = refrain_keep_freed_memory()
}
