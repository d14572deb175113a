@_exported public import RefrainCore
@_exported public import RefrainCurl
@_exported public import RefrainHTTP
@_exported public import RefrainSession
