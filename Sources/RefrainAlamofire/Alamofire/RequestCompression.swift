// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if os(Linux) || os(macOS)
/// Compresses the bodies of requests that are in memory, as `Content-Encoding: deflate`.
///
/// ```swift
/// session.request(
///     url,
///     method: .post,
///     parameters: form,
///     encoder: .json,
///     interceptor: .deflateCompressor
/// )
/// ```
///
/// The server must accept this encoding; most do not say whether they do.
public struct DeflateRequestCompressor: RequestInterceptor {
    /// What happens to a request that has a `Content-Encoding`.
    public enum DuplicateHeaderBehavior: Hashable, Sendable {
        /// It fails with ``DuplicateHeaderError``.
        case error
        /// It is compressed, and the field is replaced.
        case replace
        /// It is sent as it is.
        case skip
    }

    /// A request has a `Content-Encoding`.
    public struct DuplicateHeaderError: LocalizedError, Hashable, CustomStringConvertible {
        /// What happened, and what to do.
        public var description: String {
            "the request already has a Content-Encoding; choose .replace or .skip for such requests"
        }
        /// The ``description``, for `localizedDescription`.
        public var errorDescription: String? { description }
    }

    /// What happens to a request that has a `Content-Encoding`.
    public let duplicateHeaderBehavior: DuplicateHeaderBehavior
    /// Whether a body is compressed.
    public let shouldCompressBodyData: @Sendable (Data) -> Bool

    /// Makes the interceptor.
    ///
    /// - Parameters:
    ///   - duplicateHeaderBehavior: what happens to a request that has a `Content-Encoding`. Defaults to an error.
    ///   - shouldCompressBodyData: whether a body is compressed. Defaults to all of them.
    public init(
        duplicateHeaderBehavior: DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) {
        self.duplicateHeaderBehavior = duplicateHeaderBehavior
        self.shouldCompressBodyData = shouldCompressBodyData
    }

    /// Returns the request with its body compressed.
    ///
    /// - Throws: ``DuplicateHeaderError``.
    public func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
        guard let body = request.httpBody, shouldCompressBodyData(body) else { return request }
        if request.headers.contains("Content-Encoding") {
            switch duplicateHeaderBehavior {
            case .error: throw DuplicateHeaderError()
            case .replace: break
            case .skip: return request
            }
        }
        var request = request
        let type = request.body.contentType
        request.body = .bytes(try Deflate.compress(Array(body)), contentType: type)
        request.headers["Content-Encoding"] = "deflate"
        return request
    }
}

extension RequestInterceptor where Self == DeflateRequestCompressor {
    /// Compresses the bodies of requests.
    public static var deflateCompressor: DeflateRequestCompressor { DeflateRequestCompressor() }

    /// Compresses the bodies of requests.
    public static func deflateCompressor(
        duplicateHeaderBehavior: DeflateRequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) -> DeflateRequestCompressor {
        DeflateRequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior,
            shouldCompressBodyData: shouldCompressBodyData
        )
    }
}
#endif
