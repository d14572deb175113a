#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The processors of the machine.
enum Processors {
    /// Whether two threads can be busy at the same time.
    static let areSeveral = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1
}
