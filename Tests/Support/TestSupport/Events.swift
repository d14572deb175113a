// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainTesting

/// A number that many tasks and threads count up.
public final class Counter: Sendable {
    private let count = Observed(0)

    /// Starts at zero.
    public init() {}

    /// The number so far.
    public var value: Int { count.value }

    /// Adds one, and returns the sum.
    @discardableResult
    public func increment() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }

    /// Returns when the number is at least this one, or when the calling task is cancelled.
    public func reaches(_ number: Int) async { await count.wait { $0 >= number } }
}

/// A list that many tasks and threads append to.
public final class Journal<Entry: Sendable>: Sendable {
    private let list = Observed<[Entry]>([])

    /// Starts empty.
    public init() {}

    /// What was appended, in order.
    public var entries: [Entry] { list.value }

    /// Adds an entry at the end.
    public func append(_ entry: Entry) { list.withLock { $0.append(entry) } }

    /// Returns when there are so many entries, or when the calling task is cancelled.
    public func entries(atLeast count: Int) async { await list.wait { $0.count >= count } }
}

/// An event that tasks wait for.
public final class Signal: Sendable {
    private struct State {
        var isSet = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Starts unset.
    public init() {}

    /// Whether it is set.
    public var isSet: Bool { state.withLock { $0.isSet } }

    /// Resumes all waiting tasks, and lets later ones pass.
    public func set() {
        let waiters = state.withLock { state in
            state.isSet = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when the signal is set; a cancellation of the calling task does not end the wait.
    public func wait() async {
        await withCheckedContinuation { continuation in
            let isSet = state.withLock { state in
                if !state.isSet { state.waiters.append(continuation) }
                return state.isSet
            }
            if isSet { continuation.resume() }
        }
    }
}

/// An object whose deallocation is awaited: what holds it has been deallocated, too.
public final class Lifetime: Sendable {
    private let end: Signal

    /// Makes an object that sets the signal when its last reference goes.
    public init(_ end: Signal) { self.end = end }

    deinit { end.set() }
}
