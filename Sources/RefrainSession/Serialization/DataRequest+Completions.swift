public import Dispatch

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DataRequest: Request.ContentReading {
    /// Starts the request, and calls `completion` with the body as it came, nil if there is no response.
    ///
    /// Each of these methods calls its completion exactly once, when the request has ended; several completions of one
    /// request are called in the order in which they were added.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread, where Alamofire's default is `.main`.
    ///   - completion: receives the response.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DataResponse<Data?, RefrainError>) -> Void
    ) -> Self {
        complete(on: queue, completion) { request in
            let (outcome, sent) = request.ending
            let body = outcome.response?.data
            return DataResponse(outcome, of: sent, outcome.error.map { .failure($0) } ?? .success(body))
        }
    }

    /// Starts the request, and calls `completion` with the value of a serializer.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread.
    ///   - serializer: makes the value of each attempt's response.
    ///   - completion: receives the response.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue? = nil,
        using serializer: Serializer,
        completion: @escaping @Sendable (DataResponse<Serializer.Value, RefrainError>) -> Void
    ) -> Self {
        let value = SerializedValue(serializer, for: self)
        return complete(on: queue, completion) { request in
            let (outcome, sent) = request.ending
            return value.response(outcome, of: sent)
        }
    }
}
