#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The system's mutex, at an address that its owner keeps.
///
/// Its type stays hidden, so that code of other modules can be inlined up to the call.
@usableFromInline
struct Mutex {
    private var system = pthread_mutex_t()

    /// Makes a mutex at the address.
    @usableFromInline
    static func initialize(_ address: UnsafeMutablePointer<Mutex>) {
        address.initialize(to: Mutex())
        pthread_mutex_init(&address.pointee.system, nil)
    }

    /// Ends the mutex at the address.
    static func destroy(_ address: UnsafeMutablePointer<Mutex>) {
        pthread_mutex_destroy(&address.pointee.system)
        address.deinitialize(count: 1)
    }

    @usableFromInline
    static func lock(_ address: UnsafeMutablePointer<Mutex>) {
        pthread_mutex_lock(&address.pointee.system)
    }

    @usableFromInline
    static func unlock(_ address: UnsafeMutablePointer<Mutex>) {
        pthread_mutex_unlock(&address.pointee.system)
    }
}
