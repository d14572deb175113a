// SPDX-License-Identifier: Apache-2.0
/// Whether the present code runs within an attempt of an outer retry stage (rule R24).
package enum NestedRetry {
    @TaskLocal private static var attempt: ActiveOperation?

    /// Whether it does.
    package static var isInside: Bool { attempt?.isActive ?? false }

    /// Runs an operation as part of an attempt.
    package static func within<Result>(_ operation: () async -> Result) async -> Result {
        let attempt = ActiveOperation()
        defer { attempt.end() }
        return await $attempt.withValue(attempt, operation: operation)
    }

    /// Runs an operation that has attempts of its own, whichever attempt of another request began it.
    package static func outside<Result>(_ operation: () async -> Result) async -> Result {
        await $attempt.withValue(nil, operation: operation)
    }
}
