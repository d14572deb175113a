// SPDX-License-Identifier: Apache-2.0
/// What a transport sends and receives for a request, and what it tells about the connection.
///
/// The bytes contain credentials as they are sent.
public enum WireEvent: Hashable, Sendable {
    /// A line about the connection: addresses, TLS, whether it is reused.
    case note(String)
    /// The head of a request as it was sent, with its blank line; with HTTP/2 in the form of HTTP/1.1.
    case requestHead([UInt8])
    /// A line of the head of a response, with its line end; the last one is blank.
    case responseHead([UInt8])
}

private enum WireObserverOption: HTTPRequestOption {
    static var defaultValue: (@Sendable (WireEvent) -> Void)? { nil }
}

extension HTTPRequest {
    /// Called with what is sent and received on the wire, for logs and for finding errors.
    ///
    /// Each attempt and each redirect calls it on the thread of the transport; the closure must not block. `CurlLoader`
    /// supports it. Defaults to nil.
    ///
    /// ```swift
    /// request.wireObserver = { event in
    ///     if case .requestHead(let bytes) = event {
    ///         print(String(decoding: bytes, as: UTF8.self))
    ///     }
    /// }
    /// ```
    public var wireObserver: (@Sendable (WireEvent) -> Void)? {
        get { self[option: WireObserverOption.self] }
        set { self[option: WireObserverOption.self] = newValue }
    }
}
