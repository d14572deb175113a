#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Everything that is known of a finished request: what was sent, what came, and the value or the error.
public struct DataResponse<Value: Sendable>: Sendable {
    /// The request that the last try sent.
    public let request: HTTPRequest?
    /// The response, where there was one, acceptable or not.
    public let response: HTTPResponse?
    /// The value, or why there is none.
    public let result: Result<Value, RefrainError>
    /// Every attempt, in order, with what was decided and why.
    public let attempts: [AttemptRecord]

    init(_ outcome: RequestOutcome, of request: HTTPRequest?, _ result: Result<Value, RefrainError>) {
        self.request = request
        response = outcome.response
        if case .failure(let error) = result {
            self.result = .failure(error.recording(outcome.attempts))
        } else {
            self.result = result
        }
        attempts = outcome.attempts
    }

    /// The body, or nil where there was no response.
    public var data: Data? { response.map(\.content) }
    /// The value, or nil.
    public var value: Value? { try? result.get() }
    /// The error, or nil.
    public var error: RefrainError? {
        guard case .failure(let error) = result else { return nil }
        return error
    }
}
