extension HTTPError: CustomStringConvertible {
    /// What happened, to which request, and after which attempts.
    public var description: String {
        var text = "\(request) failed: \(code.rawValue)"
        if let message { text += " (\(message))" }
        if let lastFailure, lastFailure != code { text += "; the last attempt failed with \(lastFailure.rawValue)" }
        if let comeBackAt { text += "; come back at \(HTTPDate.format(comeBackAt))" }
        if let advice = code.advice { text += ". \(advice)" }
        for attempt in attempts { text += "\n  \(attempt)" }
        return text
    }
}

extension HTTPError.Code {
    /// What the caller can do, where that is not plain from the name.
    var advice: String? {
        switch self {
        case .requestBodyStreamExhausted: "Make the body from a factory, so that it can be read again"
        case .budgetExhausted: "This limit is local: the retry budget of the origin is empty, the server was not asked"
        case .dataLengthExceedsMaximum: "Raise the limit, or stream the body"
        case .serverCertificateHasUnknownRoot: "Name the authority's certificate, if you trust it"
        case .bodyAlreadyRead: "Collect the bytes where the body is read first"
        default: nil
        }
    }
}
