#if HTTPTypes
@_exported public import HTTPTypes
@_exported public import Refrain

// A file that imports this module in the place of `Refrain` sees the types of HTTPTypes under their own names, since a
// module's own declarations hide those that it exports again, and the types of Refrain under the names below.

/// The request of HTTPTypes.
public typealias HTTPRequest = HTTPTypes.HTTPRequest
/// The response of HTTPTypes.
public typealias HTTPResponse = HTTPTypes.HTTPResponse

/// The request of Refrain, which has a body and options.
public typealias RefrainRequest = RefrainHTTP.HTTPRequest
/// The response of Refrain, which has a body and the record of its attempts.
public typealias RefrainResponse = RefrainHTTP.HTTPResponse
/// The method of a request of Refrain.
public typealias RefrainMethod = RefrainHTTP.HTTPMethod
/// The status of a response of Refrain.
public typealias RefrainStatus = RefrainHTTP.HTTPStatus
/// The header fields of Refrain.
public typealias RefrainHeaders = RefrainHTTP.HTTPHeaders
/// The body of a request or a response of Refrain.
public typealias RefrainBody = RefrainHTTP.HTTPBody
#endif
