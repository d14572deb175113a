#if OpenAPI
@_exported public import OpenAPIRuntime
@_exported public import RefrainHTTPTypes

// As in RefrainHTTPTypes: hides the type of Refrain, which is `RefrainBody` there.

/// The body of OpenAPI's runtime.
public typealias HTTPBody = OpenAPIRuntime.HTTPBody
#endif
