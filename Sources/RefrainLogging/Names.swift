#if Logging
@_exported public import Logging
@_exported public import RefrainSession
#endif
