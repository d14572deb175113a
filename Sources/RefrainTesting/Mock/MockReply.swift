public import RefrainHTTP

extension MockLoader {
    /// A reply of a ``MockLoader`` to one request.
    public struct Reply: Sendable {
        let make: @Sendable (HTTPRequest) async -> HTTPResult
        let hold: Gate?

        /// Makes a reply from a closure.
        public init(_ make: @escaping @Sendable (HTTPRequest) async -> HTTPResult) {
            self.init(hold: nil, make)
        }

        private init(hold: Gate?, _ make: @escaping @Sendable (HTTPRequest) async -> HTTPResult) {
            self.hold = hold
            self.make = make
        }

        /// A response.
        ///
        /// The request's body is read first, as a server does; a body that cannot be read fails the exchange.
        ///
        /// - Parameters:
        ///   - status: the status of the response.
        ///   - headers: the header fields.
        ///   - body: the body.
        ///   - bytesSent: the bytes of the request that were sent; nil if the transport cannot tell.
        public static func status(
            _ status: HTTPStatus,
            headers: HTTPHeaders = [:],
            body: HTTPBody = .empty,
            bytesSent: Int64? = nil
        ) -> Reply {
            Reply { request in
                if let failure = await readBody(of: request) { return .failure(failure) }
                let facts = HTTPResponse.Exchange(bytesSent: bytesSent)
                return .success(
                    HTTPResponse(request: request, status: status, headers: headers, body: body, exchange: facts)
                )
            }
        }

        /// A failure of the exchange.
        ///
        /// The request's body is read first, unless no byte was sent.
        ///
        /// - Parameters:
        ///   - code: the kind of failure.
        ///   - bytesSent: the bytes of the request that may have been sent; nil if the transport cannot tell.
        ///   - message: a description of the failure.
        public static func failure(
            _ code: HTTPError.Code,
            bytesSent: Int64? = nil,
            message: String? = nil
        ) -> Reply {
            Reply { request in
                if bytesSent != 0, let failure = await readBody(of: request) { return .failure(failure) }
                return .failure(HTTPError(code, request: request, message: message, bytesSent: bytesSent))
            }
        }

        /// A reply that is delayed until its gate is released.
        ///
        /// It ends with `HTTPError.Code.cancelled` if the request is cancelled or the loader is reset before.
        public static func held(by hold: Gate, _ reply: Reply) -> Reply {
            Reply(hold: hold, reply.make)
        }

        private static func readBody(of request: HTTPRequest) async -> HTTPError? {
            guard !request.body.isEmpty else { return nil }
            do {
                _ = try await request.body.collect()
                return nil
            } catch {
                let code: HTTPError.Code =
                    request.body.replayability == .onceAndRead ? .requestBodyStreamExhausted : .callerFailed
                return HTTPError(code, request: request, underlyingError: error, bytesSent: 0)
            }
        }
    }
}
