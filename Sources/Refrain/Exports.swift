// SPDX-License-Identifier: Apache-2.0
@_exported public import RefrainCore
@_exported public import RefrainHTTP
@_exported public import RefrainSession

#if canImport(Darwin)
@_exported public import RefrainURLSession
#endif
#if os(Linux) || os(macOS)
@_exported public import RefrainCurl
#endif
