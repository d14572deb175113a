internal import Foundation
internal import RefrainHTTP

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension Exchange {
    /// A failure of this exchange, with what is known of what was sent and what has arrived.
    func failure(_ code: HTTPError.Code, _ message: String?, _ underlying: (any Error)? = nil) -> HTTPError {
        HTTPError(
            code,
            request: request,
            response: pipe == nil ? arrived : nil,
            underlyingError: underlying,
            message: message,
            bytesSent: evidence.bytesSent
        )
    }

    /// Why the exchange failed, or nil where the response is whole.
    func failure(of error: (any Error)?) -> HTTPError? {
        if var stopReason {
            stopReason.response = pipe == nil ? arrived : nil
            stopReason.bytesSent = evidence.bytesSent
            return stopReason
        }
        if let error { return failure(Self.code(of: error), Self.words(of: error), error) }
        guard let announced = announcedLength, bodySize != announced, !bodyWasWithheld else { return nil }
        let message = "\(bodySize) bytes of the body came, \(announced) were announced"
        return failure(.networkConnectionLost, message)
    }

    /// The response with all that has arrived.
    var wholeResponse: HTTPResponse? { arrived }

    private var arrived: HTTPResponse? {
        guard var response else { return nil }
        response.body = HTTPBody(.bytes(body))
        response.exchange.bytesSent = evidence.bytesSent
        response.exchange.bytesReceived = max(response.exchange.bytesReceived, bodySize)
        return response
    }

    /// How many bytes the body has, where that is known; not for a body whose coding URLSession undoes.
    var announcedLength: Int64? {
        guard let response else { return nil }
        if request.method == .head || response.status == 204 || response.status == 304 { return 0 }
        guard !response.headers.contains("Transfer-Encoding") else { return nil }
        if let coding = response.headers["Content-Encoding"], coding.lowercased() != "identity" { return nil }
        guard case .bytes(let length) = ContentLength.parse(fieldValues: response.headers[values: "Content-Length"])
        else { return nil }
        return length
    }

    /// The code of an error of URLSession's.
    static func code(of error: any Error) -> HTTPError.Code {
        guard let code = theirCode(of: error) else { return .unknown }
        // Nobody here has asked for it: the system ended the task, and it may be tried again.
        return code == .cancelled ? .unknown : HTTPError.Code(code)
    }

    /// Whether an error is that of a task that was cancelled.
    static func isCancellation(_ error: any Error) -> Bool { theirCode(of: error) == .cancelled }

    private static func theirCode(of error: any Error) -> URLError.Code? {
        if let error = error as? URLError { return error.code }
        let error = error as NSError
        return error.domain == NSURLErrorDomain ? URLError.Code(rawValue: error.code) : nil
    }

    private static func words(of error: any Error) -> String {
        let number = (error as NSError).code
        return "\(error.localizedDescription) (\((error as NSError).domain) \(number))"
    }
}

#if canImport(Darwin)
extension Exchange {
    /// Takes over what URLSession has measured; it does so just before a task ends.
    func note(_ metrics: URLSessionTaskMetrics) {
        evidence.transactions = metrics.transactionMetrics.map { transaction in
            SendEvidence.Transaction(
                requestBegan: transaction.requestStartDate != nil,
                headBytes: transaction.countOfRequestHeaderBytesSent,
                bodyBytes: transaction.countOfRequestBodyBytesSent
            )
        }
        guard let last = metrics.transactionMetrics.last else { return }
        response?.exchange.reusedConnection = last.isReusedConnection
        response?.exchange.bytesReceived = last.countOfResponseBodyBytesReceived
        switch last.networkProtocolName {
        case "h2": response?.exchange.version = "2"
        case "h3": response?.exchange.version = "3"
        case "http/1.0": response?.exchange.version = "1.0"
        default: break
        }
    }
}
#endif
