#if AsyncHTTPClient
@_exported public import RefrainHTTP

// NIOHTTP1 has types of these names; in this module they are Refrain's.
typealias HTTPHeaders = RefrainHTTP.HTTPHeaders
typealias HTTPMethod = RefrainHTTP.HTTPMethod
#endif
