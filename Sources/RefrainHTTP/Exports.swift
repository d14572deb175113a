@_exported public import RefrainCore
