// SPDX-License-Identifier: Apache-2.0
private enum StreamOption: HTTPRequestOption {
    static let defaultValue = false
}

private enum MaximumBodyOption: HTTPRequestOption {
    static let defaultValue: Int? = nil
}

private enum FreshConnectionOption: HTTPRequestOption {
    static let defaultValue = false
}

private enum ConnectionReportOption: HTTPRequestOption {
    static let defaultValue = false
}

private enum CompressedDownloadOption: HTTPRequestOption {
    static let defaultValue = false
}

private enum ErrorContentOption: HTTPRequestOption {
    static let defaultValue = false
}

extension HTTPRequest {
    /// Whether the transport reports the addresses of the exchange and the times of its parts.
    ///
    /// They are in ``HTTPResponse/Exchange/connection``. Defaults to false.
    public var recordsConnection: Bool {
        get { self[option: ConnectionReportOption.self] }
        set { self[option: ConnectionReportOption.self] = newValue }
    }

    /// Whether a download may come compressed, which is undone; it then cannot go on where it was cut.
    ///
    /// Defaults to false: a download asks for the content as it is (rule R11).
    public var acceptsCompressedDownload: Bool {
        get { self[option: CompressedDownloadOption.self] }
        set { self[option: CompressedDownloadOption.self] = newValue }
    }

    /// Whether a download keeps the whole content of an answer of status 400 or more, up to ``maximumBodySize``.
    ///
    /// Defaults to false: at most the first 64 KiB are kept, as far as they come within a second.
    public var keepsErrorContent: Bool {
        get { self[option: ErrorContentOption.self] }
        set { self[option: ErrorContentOption.self] = newValue }
    }

    /// Whether the response is returned when its head has arrived, with a body that is read as it arrives.
    ///
    /// If false, the default, the body is collected first, up to ``maximumBodySize``. A streamed body throws
    /// ``HTTPError`` if it is interrupted; the chain does not retry after the response has been returned.
    public var streamsResponse: Bool {
        get { self[option: StreamOption.self] }
        set { self[option: StreamOption.self] = newValue }
    }

    /// The maximum size of the decoded body in bytes.
    ///
    /// A larger body fails with ``HTTPError/Code/dataLengthExceedsMaximum``. Defaults to nil:
    /// ``defaultMaximumBodySize`` for collected bodies, no limit for streams. A negative limit counts as 0.
    public var maximumBodySize: Int? {
        get { self[option: MaximumBodyOption.self] }
        set { self[option: MaximumBodyOption.self] = newValue.map { max(0, $0) } }
    }

    /// The default limit of bodies collected in memory: 64 MiB.
    public static let defaultMaximumBodySize = 64 << 20

    /// Whether the request must use a new connection, as a retry after 408 or 421 does; defaults to false.
    public var needsFreshConnection: Bool {
        get { self[option: FreshConnectionOption.self] }
        set { self[option: FreshConnectionOption.self] = newValue }
    }
}

/// How much of a response that is discarded is read, so that its connection can be used again (rule R28).
///
/// The transport reads it while the next attempt or hop is under way, and closes the connection where the body is
/// longer or slower.
package enum UnreadBody {
    /// How many bytes are read: 64 KiB.
    package static let maximumSize = 65_536
    /// For how long they are read: a second.
    package static let timeout = Duration.seconds(1)
}

/// Which responses the transport may hand over before their bodies are complete, to be read as they arrive.
///
/// A stage that may discard a response decides on it by its head, without a wait for its body (rule R28).
package struct DeferredBodies: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Whether there are none.
    package var isEmpty: Bool { rawValue == 0 }

    /// Redirects: 301, 302, 303, 307 and 308.
    package static let redirects = DeferredBodies(rawValue: 1)
    /// Statuses of which another attempt may bring a better one (rule R7).
    package static let transientErrors = DeferredBodies(rawValue: 2)
}
