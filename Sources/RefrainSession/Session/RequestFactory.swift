/// Makes requests from what callers give; what cannot be made is an error that the request then ends with.
enum RequestFactory {
    static func make(_ convertible: some HTTPRequestConvertible) -> Result<HTTPRequest, RefrainError> {
        do {
            return .success(try convertible.asHTTPRequest())
        } catch {
            return .failure(error as? RefrainError ?? .createRequestFailed(error: error))
        }
    }

    static func make(
        _ url: some URLConvertible,
        _ method: HTTPMethod,
        _ headers: HTTPHeaders?,
        _ modify: (@Sendable (inout HTTPRequest) throws -> Void)?,
        encode: (HTTPRequest) throws -> HTTPRequest = { $0 }
    ) -> Result<HTTPRequest, RefrainError> {
        var request: HTTPRequest
        do {
            request = HTTPRequest(try url.asURL(), method: method, headers: headers ?? [:])
        } catch {
            return .failure(.invalidURL(error: error))
        }
        do {
            request = try encode(request)
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
