#if OpenAPI
extension RefrainBody {
    /// Makes a body from one of OpenAPI's runtime: replayable where it can be iterated several times, otherwise a
    /// stream that is sent once (rule R4).
    ///
    /// The length is kept where it is known. Chunks are passed on as they are read.
    public init(_ body: HTTPBody) {
        var length: Int64?
        if case .known(let count) = body.length { length = count }
        switch body.iterationBehavior {
        case .multiple: self = .stream(length: length) { body.map { Array($0) } }
        case .single: self = .oneShot(body.map { Array($0) }, length: length)
        }
    }
}

extension HTTPBody {
    /// Makes a body of OpenAPI's runtime, which can be iterated as often as the body that it is made from.
    public convenience init(_ body: RefrainBody) {
        if let bytes = body.bytesInMemory {
            self.init(bytes)
        } else {
            let isReplayable = body.replayability == .replayable || body.replayability == .none
            let length = body.length.map { Length.known($0) } ?? .unknown
            self.init(body, length: length, iterationBehavior: isReplayable ? .multiple : .single)
        }
    }
}

extension RefrainResponse {
    /// The body for OpenAPI's runtime; nil where a response has none (RFC 9110 §6.4.1).
    var openAPIBody: HTTPBody? {
        let hasNone = request.method == .head || status.isInformational || [204, 205, 304].contains(status)
        return hasNone ? nil : HTTPBody(body)
    }
}
#endif
