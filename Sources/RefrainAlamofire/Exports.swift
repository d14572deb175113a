@_exported public import Refrain
