#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Changes a request before it is sent: a field added, a signature made, a host replaced.
///
/// ```swift
/// struct Language: RequestAdapter {
///     func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
///         var request = request
///         request.headers["Accept-Language"] = "en"
///         return request
///     }
/// }
/// ```
///
/// Adapters run before every try, and always on the original request, so fields never pile up (rule R6). An
/// error that is thrown fails the try; retriers are asked about it. The idea is from Alamofire.
public protocol RequestAdapter: Sendable {
    /// The request that shall be sent in place of the one given.
    func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest

    /// The request that shall be sent, for adapters that need to know which request and which try it is for.
    func adapt(_ request: HTTPRequest, using state: RequestAdapterState) async throws -> HTTPRequest
}

extension RequestAdapter {
    /// Asks the short form.
    public func adapt(_ request: HTTPRequest, using state: RequestAdapterState) async throws -> HTTPRequest {
        try await adapt(request, for: state.session)
    }
}

/// What an adapter is told besides the request.
public struct RequestAdapterState: Sendable {
    /// The identity of the ``Request``.
    public var requestID: UUID {
        switch identity {
        case .given(let id): id
        case .request(let request): request.id
        }
    }
    /// The session that the request belongs to.
    public let session: Session
    /// The number of the try, from 1.
    public let attempt: Int

    private let identity: Identity

    private enum Identity {
        case given(UUID)
        case request(Request)
    }

    /// Describes a try of a request, whose identity is drawn when somebody asks for it.
    init(request: Request, session: Session, attempt: Int) {
        identity = .request(request)
        self.session = session
        self.attempt = attempt
    }

    /// Describes a try.
    public init(requestID: UUID, session: Session, attempt: Int) {
        identity = .given(requestID)
        self.session = session
        self.attempt = attempt
    }
}
