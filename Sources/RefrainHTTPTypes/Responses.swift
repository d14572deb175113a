// SPDX-License-Identifier: Apache-2.0
#if HTTPTypes
extension RefrainStatus {
    /// Makes a status from one of HTTPTypes; the reason phrase is left out (RFC 9110 §15).
    public init(_ status: HTTPResponse.Status) { self.init(rawValue: status.code) }
}

extension HTTPResponse.Status {
    /// Makes a status of HTTPTypes, or nil where the code is not one of three digits at most.
    public init?(_ status: RefrainStatus) {
        guard (0...999).contains(status.rawValue) else { return nil }
        self.init(code: status.rawValue)
    }
}

extension RefrainResponse {
    /// Makes a response from one of HTTPTypes and a body.
    ///
    /// - Parameters:
    ///   - response: the response.
    ///   - request: the request that it answers.
    ///   - body: the body, which is not copied. Defaults to no body.
    public init(_ response: HTTPResponse, to request: RefrainRequest, body: RefrainBody = .empty) {
        let headers = RefrainHeaders(response.headerFields)
        self.init(request: request, status: RefrainStatus(response.status), headers: headers, body: body)
    }
}

extension HTTPResponse {
    /// Makes a response of HTTPTypes; the body stays with the response that it is made from.
    ///
    /// A server's field whose name is not a token is left out, since HTTPTypes cannot hold it.
    ///
    /// - Throws: `InvalidArgument` for a status that is not one of three digits at most.
    public init(_ response: RefrainResponse) throws(InvalidArgument) {
        guard let status = Status(response.status) else {
            throw InvalidArgument("status", is: response.status, expected: "from 0 to 999")
        }
        self.init(status: status, headerFields: HTTPFields(received: response.headers))
    }
}
#endif
