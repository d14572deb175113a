/// How long one try may take, and its parts; a part without a limit is nil.
///
/// A try that runs out of time fails with ``HTTPError/Code/timedOut``, which is told apart from the caller's
/// cancellation. The deadline of the whole call is ``HTTPRequest/deadline``, and independent of these (rule R20).
public struct Timeouts: Hashable, Sendable {
    /// The time to resolve the name, connect and finish the TLS handshake.
    public var connect: Duration?
    /// The time from the beginning of the try to the first byte of the response.
    public var firstByte: Duration?
    /// The longest time without a byte in either direction, once the request is under way.
    public var idle: Duration?
    /// The time for the whole try, body included.
    public var total: Duration?

    /// The limits of requests that set none: 10 s to connect, 60 s without a byte.
    ///
    /// There is no limit on the whole try, since nobody knows how long a download takes; silence is what tells that
    /// a peer is gone. Sixty seconds is what URLSession waits.
    public static let standard = Timeouts(connect: .seconds(10), firstByte: nil, idle: .seconds(60), total: nil)

    /// Sets limits; each nil means none.
    public init(connect: Duration?, firstByte: Duration?, idle: Duration?, total: Duration?) {
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }
}

private enum TimeoutsOption: HTTPRequestOption {
    static let defaultValue = Timeouts.standard
}

private enum DeadlineOption: HTTPRequestOption {
    static let defaultValue: Duration? = nil
}

extension HTTPRequest {
    /// The limits of each try.
    public var timeouts: Timeouts {
        get { self[option: TimeoutsOption.self] }
        set { self[option: TimeoutsOption.self] = newValue }
    }

    /// The time for one whole try; nil: no limit.
    public var timeout: Duration? {
        get { timeouts.total }
        set { timeouts.total = newValue }
    }

    /// The time for the whole call, all tries, waits and redirects together; nil: no limit.
    public var deadline: Duration? {
        get { self[option: DeadlineOption.self] }
        set { self[option: DeadlineOption.self] = newValue }
    }
}
