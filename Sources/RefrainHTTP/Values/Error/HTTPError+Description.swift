extension HTTPError: CustomStringConvertible {
    /// The request, the failure, its cause and the attempts made.
    @_optimize(none)
    public var description: String {
        var text = "\(request) failed: \(code.rawValue)"
        if let message { text += " (\(message))" }
        if let lastFailure, lastFailure != code { text += "; the last attempt failed with \(lastFailure.rawValue)" }
        if let retryAfterDate { text += "; come back at \(HTTPDate.format(retryAfterDate))" }
        if let advice = code.advice { text += ". \(advice)" }
        if attempts.last?.reason == .budgetExhausted {
            text += ". This limit is local: the retry budget of the origin is empty, the server was not asked again"
        }
        for attempt in attempts { text += "\n  \(attempt)" }
        return text
    }
}

extension HTTPError.Code {
    /// A remedy, if the code does not imply it.
    var advice: String? {
        switch self {
        case .requestBodyStreamExhausted: "Make the body from a factory, so that it can be read again"
        case .dataLengthExceedsMaximum: "Raise the limit, or stream the body"
        case .serverCertificateHasUnknownRoot: "Name the authority's certificate, if you trust it"
        case .bodyAlreadyRead: "Collect the bytes where the body is read first"
        default: nil
        }
    }
}
