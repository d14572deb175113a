// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Changes a request before it is sent, for example adds a field or a signature, or replaces the host.
///
/// ```swift
/// struct Language: RequestAdapter {
///     func adapt(
///         _ request: HTTPRequest, for session: Session
///     ) async throws -> HTTPRequest {
///         var request = request
///         request.headers["Accept-Language"] = "en"
///         return request
///     }
/// }
/// ```
///
/// Adapters run before every attempt, always on the original request, so that fields do not accumulate. A thrown error
/// fails the attempt and is passed to the retriers.
///
/// Implement one of the four methods. Each asynchronous method has a completion form with Alamofire's signature, and
/// every form calls the implemented one, so all forms can be called. An adapter that implements none of them, for
/// example because a method has other types, fails its first request with an error that names it.
public protocol RequestAdapter: Sendable {
    /// The result of an adapter with a completion.
    typealias AdaptCompletion = @Sendable (_ result: Result<HTTPRequest, any Error>) -> Void

    /// Returns the request to send in place of the one given.
    func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest

    /// Calls `completion` with the request to send; at once or later, on any thread.
    ///
    /// The first call counts. A completion that is released without a call fails the request with
    /// ``Interceptor/CompletionDropped``.
    func adapt(_ request: HTTPRequest, for session: Session, completion: @escaping AdaptCompletion)

    /// Returns the request to send, for adapters that need the request's identity and the number of the attempt.
    func adapt(_ request: HTTPRequest, using state: RequestAdapterState) async throws -> HTTPRequest

    /// The completion form of ``adapt(_:using:)``.
    func adapt(_ request: HTTPRequest, using state: RequestAdapterState, completion: @escaping AdaptCompletion)
}

extension RequestAdapter {
    /// Calls the completion form.
    ///
    /// - Throws: `InvalidArgument` where neither form is implemented.
    public func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
        guard let adapted = try await adaptByCompletion(request, for: session) else {
            throw CompletionForm.neither("adapt(_:for:)", of: Self.self)
        }
        return adapted
    }

    /// Calls the asynchronous form in a task.
    public func adapt(_ request: HTTPRequest, for session: Session, completion: @escaping AdaptCompletion) {
        guard !CompletionForm.isDefault(for: Self.self) else { return }
        CompletionForm.run {
            do {
                completion(.success(try await adapt(request, for: session)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// Calls the completion form, or else ``adapt(_:for:)``.
    public func adapt(_ request: HTTPRequest, using state: RequestAdapterState) async throws -> HTTPRequest {
        let result: Result<HTTPRequest, any Error>? = try await CompletionForm.waitIfImplemented(by: Self.self) {
            adapt(request, using: state, completion: $0)
        }
        guard let result else { return try await adapt(request, for: state.session) }
        return try result.get()
    }

    /// Calls the asynchronous form in a task.
    public func adapt(
        _ request: HTTPRequest,
        using state: RequestAdapterState,
        completion: @escaping AdaptCompletion
    ) {
        guard !CompletionForm.isDefault(for: Self.self) else { return }
        CompletionForm.run {
            do {
                completion(.success(try await adapt(request, using: state)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// The result of the completion form, or nil if it is not implemented.
    func adaptByCompletion(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest? {
        let result: Result<HTTPRequest, any Error>? = try await CompletionForm.waitIfImplemented(by: Self.self) {
            adapt(request, for: session, completion: $0)
        }
        return try result?.get()
    }
}

/// The state passed to an adapter with the request.
public struct RequestAdapterState: Sendable {
    /// The identifier of the ``Request``.
    public var requestID: UUID {
        switch identity {
        case .given(let id): id
        case .request(let request): request.id
        }
    }
    /// The session that the request belongs to.
    public let session: Session
    /// The number of the attempt, from 1.
    public let attempt: Int

    private let identity: Identity

    private enum Identity {
        case given(UUID)
        case request(Request)
    }

    /// Describes an attempt of a request, whose identity is created when it is first read.
    init(request: Request, session: Session, attempt: Int) {
        identity = .request(request)
        self.session = session
        self.attempt = attempt
    }

    /// Keeps that a type of interceptor has no adapting half, so that it must have a retrying one.
    func noteAbsentAdapter(of interceptor: Any.Type) {
        guard case .request(let request) = identity else { return }
        request.noteAbsentAdapter(interceptor)
    }

    /// Describes an attempt.
    public init(requestID: UUID, session: Session, attempt: Int = 1) {
        identity = .given(requestID)
        self.session = session
        self.attempt = attempt
    }
}
