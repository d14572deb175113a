internal import Foundation
internal import RefrainHTTP

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension Exchange {
    /// Makes an error of this exchange, with the bytes sent and the response so far.
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

    /// The error of the exchange, or nil if the response is complete.
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

    /// The response with all data received.
    var wholeResponse: HTTPResponse? { arrived }

    private var arrived: HTTPResponse? {
        guard var response else { return nil }
        response.body = HTTPBody(.bytes(body))
        response.exchange.bytesSent = evidence.bytesSent
        response.exchange.bytesReceived = max(response.exchange.bytesReceived, bodySize)
        return response
    }

    /// The length of the body, if known; nil for a content-coded body, which URLSession decodes.
    var announcedLength: Int64? {
        guard let response else { return nil }
        if request.method == .head || response.status == 204 || response.status == 304 { return 0 }
        guard !response.headers.contains("Transfer-Encoding") else { return nil }
        if let coding = response.headers["Content-Encoding"], coding.lowercased() != "identity" { return nil }
        guard case .bytes(let length) = ContentLength.parse(fieldValues: response.headers[values: "Content-Length"])
        else { return nil }
        return length
    }

    /// The code of an error of URLSession.
    static func code(of error: any Error) -> HTTPError.Code {
        guard let code = theirCode(of: error) else { return .unknown }
        // The system cancelled the task, not the caller; the request may be retried.
        return code == .cancelled ? .unknown : HTTPError.Code(code)
    }

    /// Whether the error is the cancellation of a task.
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
    /// Stores URLSession's metrics, which arrive immediately before a task ends.
    func note(_ metrics: URLSessionTaskMetrics) {
        evidence.transactions = metrics.transactionMetrics.map { transaction in
            TransmissionMetrics.Transaction(
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
