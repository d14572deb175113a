#if ServiceLifecycle
@_exported public import RefrainSession
@_exported public import ServiceLifecycle
#endif
