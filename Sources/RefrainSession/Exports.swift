@_exported public import RefrainHTTP
