internal import CurlShim

/// What is done once in a process, as soon as it collects large bodies.
enum LargeBodies {
    /// The size from which on glibc asks the kernel for memory of its own, unless told otherwise.
    static let size = 128 << 10

    /// Keeps the memory of a body for the next one.
    ///
    /// Without it most of the time of a body of 1 MB goes into page faults.
    static let prepare: Void = refrain_keep_freed_memory()
}
