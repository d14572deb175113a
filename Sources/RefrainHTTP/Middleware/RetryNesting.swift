/// Whether this code runs within an attempt of a retry stage further out (rule R24).
package enum RetryNesting {
    @TaskLocal private static var attempt: WorkScope?

    /// Whether it does.
    package static var isInside: Bool { attempt?.goesOn ?? false }

    /// Does what belongs to an attempt.
    package static func within<Result>(_ operation: () async -> Result) async -> Result {
        let attempt = WorkScope()
        defer { attempt.end() }
        return await $attempt.withValue(attempt, operation: operation)
    }

    /// Does what has tries of its own, whichever attempt of another request has begun it.
    package static func outside<Result>(_ operation: () async -> Result) async -> Result {
        await $attempt.withValue(nil, operation: operation)
    }

    /// Does what has tries of its own, whichever attempt of another request has begun it.
    package static func outside<Result>(_ operation: () -> Result) -> Result {
        $attempt.withValue(nil, operation: operation)
    }
}
