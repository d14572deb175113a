// SPDX-License-Identifier: Apache-2.0
/// A loop of this package that runs the current code, and runs it again after a failure.
///
/// What is inside needs it for two things: the default policy of a session leaves the attempts to `Task.retrying`, and
/// a generated idempotency key is the same in every run of the operation (rules R5 and R24).
@usableFromInline
package final class OuterRetry: Sendable {
    /// Whether a default policy inside leaves the attempts to this loop.
    private let makesAttempts: Bool
    /// The loop around this one.
    private let outer: Run?
    private let keys = Locked<[Target: Keys]>([:])

    /// A key that was generated for a request, so that the same request gets the same one in each run.
    package struct Key: Sendable {
        /// What identifies the request: its method and URL.
        package let request: String
        /// The hash of its body: under one key there is one body only.
        package let body: Int
        /// The key.
        package let value: String

        package init(request: String, body: Int, value: String) {
            self.request = request
            self.body = body
            self.value = value
        }
    }

    /// What requests have in common that may have the same key.
    private struct Target: Hashable {
        let request: String
        let body: Int
    }

    /// The keys of the requests to a target, in order; a second request of one run gets another key.
    private struct Keys {
        var values: [String] = []
        /// The run that used keys last, and how many.
        var run = 0
        var used = 0

        /// The key of the next request of a run; nil: none is left of earlier runs.
        mutating func next(in number: Int) -> String? {
            if run != number { (run, used) = (number, 0) }
            guard used < values.count else { return nil }
            used += 1
            return values[used - 1]
        }
    }

    /// One run of the operation.
    private struct Run {
        let loop: OuterRetry
        let number: Int
        let operation: ActiveOperation

        var makesAttempts: Bool {
            (operation.isActive && loop.makesAttempts) || loop.outer?.makesAttempts ?? false
        }

        func key(for request: String, _ body: Int, _ new: () -> String) -> String {
            guard operation.isActive else { return loop.outer?.key(for: request, body, new) ?? new() }
            let target = Target(request: request, body: body)
            let known = loop.keys.withLock { $0[target]?.next(in: number) }
            if let known { return known }
            let value = loop.outer?.key(for: request, body, new) ?? new()
            loop.keys.withLock { keys in
                keys[target, default: Keys()].values.append(value)
                _ = keys[target]?.next(in: number)
            }
            return value
        }
    }

    @TaskLocal private static var run: Run?

    /// Describes a loop that begins in the current task.
    package init(makesAttempts: Bool) {
        self.makesAttempts = makesAttempts
        outer = Self.run
    }

    /// Whether a default policy makes no attempts of its own, since the caller has chosen those of `Task.retrying`.
    package static var isInside: Bool { run?.makesAttempts ?? false }

    /// Runs the operation for an attempt of the loop.
    package func run<Value>(_ attempt: Attempt, _ body: () async throws -> Value) async rethrows -> Value {
        let operation = ActiveOperation()
        defer { operation.end() }
        return try await Self.$run.withValue(Run(loop: self, number: attempt.number, operation: operation)) {
            try await body()
        }
    }

    /// Runs code whose requests are not part of a run, although one began it: others wait for them as well.
    package static func outside<Value>(_ body: () async -> Value) async -> Value {
        await $run.withValue(nil, operation: body)
    }

    /// Returns the key of a request: the one that it had in an earlier run of the loops around it, or a new one.
    package static func key(for request: String, body: Int, new: () -> String) -> String {
        run?.key(for: request, body, new) ?? new()
    }

    /// Keeps the key of a request that failed, for a loop whose first run is not marked as one.
    func keep(_ key: Key) {
        keys.withLock { keys in
            let target = Target(request: key.request, body: key.body)
            guard keys[target]?.values.contains(key.value) != true else { return }
            keys[target, default: Keys()].values.append(key.value)
        }
    }
}

/// An error of a request that was sent with a generated key.
package protocol GeneratedKeyError: RetryTerminalError {
    /// The key; nil without one.
    var generatedKey: OuterRetry.Key? { get }
}

/// The keys of a loop's failed runs; nil until a run fails with an error that has one.
@usableFromInline
func keepingKey(of error: any Error, in loop: OuterRetry?) -> OuterRetry? {
    guard !isPlain(error), let key = (error as? any GeneratedKeyError)?.generatedKey else { return loop }
    let loop = loop ?? OuterRetry(makesAttempts: false)
    loop.keep(key)
    return loop
}

/// Runs the operation of a loop, with the keys of its earlier runs if there are any.
@usableFromInline
nonisolated(nonsending) func rerun<Success>(
    _ attempt: Attempt,
    _ loop: OuterRetry,
    _ operation: (Attempt) async throws -> Success
) async throws -> Success {
    try await loop.run(attempt) { try await operation(attempt) }
}
