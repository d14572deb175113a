// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Interceptor {
    /// An interceptor released its completion without calling it.
    public struct CompletionDropped: LocalizedError, Hashable, Sendable, CustomStringConvertible {
        /// What happened, and what to do.
        public var description: String { "its completion was never called; call it on every path" }
        /// The ``description``, for `localizedDescription`.
        public var errorDescription: String? { description }
    }
}

/// Runs the completion form of an interceptor's method from an asynchronous function.
///
/// The first call of the completion counts. A completion that is released without a call throws
/// ``Interceptor/CompletionDropped``, and cancelling the task ends the wait, so that no request hangs on it.
enum CompletionForm {
    /// Runs `body` with a completion, and waits for its result.
    ///
    /// - Throws: ``Interceptor/CompletionDropped``, or `CancellationError` where the task is cancelled first.
    static func wait<Value: Sendable>(
        _ body: (@escaping @Sendable (Value) -> Void) -> Void
    ) async throws -> Value {
        let promise = Promise<Result<Value, any Error>>()
        return try await withTaskCancellationHandler {
            start(promise, body)
            return try await promise.value.get()
        } onCancel: {
            promise.fulfill(.failure(CancellationError()))
        }
    }

    /// As ``wait(_:)`` for a method of `type`; nil where `body` came to the method's default implementation.
    static func waitIfImplemented<Value: Sendable>(
        by type: Any.Type,
        _ body: (@escaping @Sendable (Value) -> Void) -> Void
    ) async throws -> Value? {
        let question = Question(ObjectIdentifier(type))
        let promise = Promise<Result<Value, any Error>>()
        return try await withTaskCancellationHandler {
            $question.withValue(question) { start(promise, body) }
            return question.isDefault ? nil : try await promise.value.get()
        } onCancel: {
            promise.fulfill(.failure(CancellationError()))
        }
    }

    /// Called by a default implementation of a completion form: whether its caller is the asynchronous form's default,
    /// so that `type` implements neither.
    static func isDefault(for type: Any.Type) -> Bool {
        guard let question, question.type == ObjectIdentifier(type) else { return false }
        question.isDefault = true
        return true
    }

    /// Runs the asynchronous form for the default implementation of a completion form.
    static func run(_ body: @escaping @Sendable () async -> Void) {
        $question.withValue(nil) { _ = Task { await body() } }
    }

    /// The error of an interceptor that implements a method in neither of its forms.
    static func neither(_ method: String, of interceptor: Any.Type) -> InvalidArgument {
        InvalidArgument(
            "interceptor",
            is: "\(interceptor)",
            expected:
                "an implementation of \(method), asynchronous or with a completion, with the types of the protocol"
        )
    }

    @TaskLocal private static var question: Question?

    private static func start<Value>(
        _ promise: Promise<Result<Value, any Error>>,
        _ body: (@escaping @Sendable (Value) -> Void) -> Void
    ) {
        let end = CallerEnd(promise)
        body { end.promise.fulfill(.success($0)) }
    }
}

/// Which type's completion form is called, and whether the call came to its default implementation.
private final class Question: Sendable {
    let type: ObjectIdentifier
    private let reachedDefault = Atomic(false)

    init(_ type: ObjectIdentifier) { self.type = type }

    var isDefault: Bool {
        get { reachedDefault.load(ordering: .acquiring) }
        set { reachedDefault.store(newValue, ordering: .releasing) }
    }
}

/// The caller's end of a completion: released with the last copy of it.
private final class CallerEnd<Value: Sendable>: Sendable {
    let promise: Promise<Result<Value, any Error>>

    init(_ promise: Promise<Result<Value, any Error>>) { self.promise = promise }

    deinit { promise.fulfill(.failure(Interceptor.CompletionDropped())) }
}
