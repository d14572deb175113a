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

    init<Convertible: HTTPRequestConvertible>(_ convertible: Convertible) {
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
        let recipe = RequestRecipe(address, method, headers, content, modify)
        first = recipe.make()
        guard recipe.varies else {
            remake = nil
            return
        }
        remake = { recipe.make() }
    }

    private static func make(_ convertible: some HTTPRequestConvertible) -> Made {
        do {
            return .success(try convertible.asHTTPRequest())
        } catch {
            return .failure(error as? RefrainError ?? .createRequestFailed(error: error))
        }
    }
}

/// The arguments of a session's method that make a request from a URL.
struct RequestRecipe<Address: URLConvertible, Content: RequestContent>: Sendable {
    let address: Address
    let method: HTTPMethod
    let headers: HTTPHeaders?
    let content: Content
    let modify: Session.RequestModifier?

    init(
        _ address: Address,
        _ method: HTTPMethod,
        _ headers: HTTPHeaders?,
        _ content: Content,
        _ modify: Session.RequestModifier?
    ) {
        self.address = address
        self.method = method
        self.headers = headers
        self.content = content
        self.modify = modify
    }

    /// Whether code of the caller's takes part, which may make another request the next time.
    var varies: Bool {
        if modify != nil || content.varies { return true }
        // Known by type, because the method is generic over it.
        return Address.self != String.self && Address.self != URL.self && Address.self != URLComponents.self
    }

    func make() -> RequestFactory.Made {
        var request: HTTPRequest
        do {
            request = HTTPRequest(try address.asURL(), method: method, headers: headers ?? [:])
        } catch {
            return .failure(.invalidURL(error: RefrainError.InvalidURL(address, dueTo: error)))
        }
        do {
            request = try content.added(to: request)
        } catch {
            return .failure(error as? RefrainError ?? .parameterEncodingFailed(error: error))
        }
        do {
            try modify?(&request)
            return .success(request)
        } catch {
            return .failure(error as? RefrainError ?? .createRequestFailed(error: error))
        }
    }
}
