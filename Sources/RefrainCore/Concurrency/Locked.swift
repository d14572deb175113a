// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A value behind a mutex.
///
/// Value and mutex are one allocation. Copies of a `Locked` share both. `pthread_mutex_t` is used rather than
/// `Synchronization.Mutex`, because the thread sanitizer does not see the futex of the latter on Linux and reports
/// races that are none.
///
/// `@usableFromInline` on the type, too: without it nothing of a `package` type is inlined into other modules.
@usableFromInline
package struct Locked<State>: @unchecked Sendable {
    // @unchecked Sendable: the state is only ever touched between lock and unlock of the mutex beside it. The users of
    // this type are within this package, and hand out of `withLock` only what is Sendable or theirs alone.
    @usableFromInline let storage: LockedStorage<State>

    /// Puts `state` behind a new mutex.
    @inlinable
    package init(_ state: sending State) {
        storage = LockedStorage.make { state }
    }

    /// Puts what `make` makes behind a new mutex; a large state is made in its place.
    @inlinable
    package init(making make: () -> State) {
        storage = LockedStorage.make(make)
    }

    /// Runs `body` with exclusive access to the value.
    ///
    /// `body` must not block and must not take the lock again.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeMutablePointers { state, mutex throws(Failure) in
            Mutex.lock(mutex)
            defer { Mutex.unlock(mutex) }
            return try body(&state.pointee)
        }
    }
}

/// A state and its mutex in one object, where both have an address that does not change.
@usableFromInline
final class LockedStorage<State>: ManagedBuffer<State, Mutex> {
    @inlinable
    static func make(_ make: () -> State) -> LockedStorage<State> {
        let buffer = create(minimumCapacity: 1) { _ in make() }
        buffer.withUnsafeMutablePointerToElements { Mutex.initialize($0) }
        // `create` makes an object of the class that it is called on.
        return unsafeDowncast(buffer, to: LockedStorage<State>.self)
    }

    deinit { withUnsafeMutablePointerToElements { Mutex.destroy($0) } }
}

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
