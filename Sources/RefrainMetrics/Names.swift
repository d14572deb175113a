#if Metrics
@_exported public import Metrics
@_exported public import RefrainSession
#endif
