#if Tracing
@_exported public import RefrainSession
@_exported public import Tracing
#endif
