internal import Synchronization

/// Whether the current code runs within an operation that `Task.retrying` retries.
///
/// The caller has chosen these retries, so a default policy adds none.
package enum OuterRetry {
    @TaskLocal private static var operation: Operation?

    /// Tasks that the operation starts inherit the value, and may outlive the operation.
    private final class Operation: Sendable {
        let hasEnded = Atomic(false)
    }

    /// Whether it does.
    package static var isInside: Bool { operation.map { !$0.hasEnded.load(ordering: .acquiring) } ?? false }

    /// Runs an operation as one that is repeated.
    package static func within<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        let operation = Operation()
        defer { operation.hasEnded.store(true, ordering: .releasing) }
        return try await $operation.withValue(operation, operation: body)
    }
}
