// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Makes a request from what callers give, for the first attempt at once, and for later ones where it may differ.
///
/// As in Alamofire, a convertible, a request modifier and a parameter encoding of the caller's own are evaluated anew
/// for each attempt, so that a date or a signature that they set is the attempt's own.
struct RequestFactory: Sendable {
    typealias Made = Result<HTTPRequest, RefrainError>

    /// The request of the first attempt, or the error that the request ends with.
    let first: Made
    /// Makes the request of a later attempt; nil: it is that of the first one.
    let remake: (@Sendable () -> Made)?

    init<Convertible: Session.RequestConvertible>(_ convertible: Convertible) {
        first = Self.make(convertible)
        guard Convertible.self != HTTPRequest.self else {
            remake = nil
            return
        }
        remake = { Self.make(convertible) }
    }

    init<Address, Content>(
        _ address: Address,
        _ method: HTTPMethod,
        _ headers: HTTPHeaders?,
        _ content: Content,
        _ modify: Session.RequestModifier?
    ) where Address: URLConvertible, Content: RequestContent {
        let made = Self.make(address, method, headers, content)
        first = Self.modified(made, by: modify)
        if content.varies || Address.mayVary {
            remake = { Self.modified(Self.make(address, method, headers, content), by: modify) }
        } else if let modify {
            remake = { Self.modified(made, by: modify) }
        } else {
            remake = nil
        }
    }

    private static func make(
        _ address: some URLConvertible,
        _ method: HTTPMethod,
        _ headers: HTTPHeaders?,
        _ content: some RequestContent
    ) -> Made {
        let request: HTTPRequest
        do {
            request = HTTPRequest(try address.asURL(), method: method, headers: headers ?? [:])
        } catch {
            return .failure(.invalidURL(error: RefrainError.InvalidURL(address, dueTo: error)))
        }
        do {
            return .success(try content.added(to: request))
        } catch {
            return .failure(error as? RefrainError ?? .parameterEncodingFailed(error: error))
        }
    }

    private static func modified(_ made: Made, by modify: Session.RequestModifier?) -> Made {
        guard let modify, case .success(var request) = made else { return made }
        do {
            try modify(&request)
            return .success(request)
        } catch {
            return .failure(error as? RefrainError ?? .createRequestFailed(error: error))
        }
    }

    private static func make(_ convertible: some Session.RequestConvertible) -> Made {
        do {
            return .success(try convertible.asHTTPRequest())
        } catch {
            return .failure(error as? RefrainError ?? .createRequestFailed(error: error))
        }
    }
}

extension URLConvertible {
    /// Whether the caller's code takes part, which may make another URL the next time.
    fileprivate static var mayVary: Bool { self != String.self && self != URL.self && self != URLComponents.self }
}
