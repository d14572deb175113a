/// How long one try may take, and its parts; a part without a limit is nil.
///
/// A try that runs out of time fails with ``HTTPError/Code/timedOut``, which is told apart from the caller's
/// cancellation. The deadline of the whole call is ``HTTPRequest/deadline``, and independent of these (rule R20).
///
/// The value remembers which of its parts were set, be it to nil, so that a ``Timeout`` stage fills in only the others.
public struct Timeouts: Sendable {
    /// The time to resolve the name, connect and finish the TLS handshake.
    public var connect: Duration? {
        didSet {
            connect = connect?.withinClocks
            chosen.insert(.connect)
        }
    }
    /// The time from the beginning of the try to the first byte of the response.
    public var firstByte: Duration? {
        didSet {
            firstByte = firstByte?.withinClocks
            chosen.insert(.firstByte)
        }
    }
    /// The longest time without a byte in either direction, once the request is under way.
    ///
    /// It rests while the caller is who is waited for: a source with nothing to send, or a reader that takes nothing.
    public var idle: Duration? {
        didSet {
            idle = idle?.withinClocks
            chosen.insert(.idle)
        }
    }
    /// The time for the whole try, body included.
    public var total: Duration? {
        didSet {
            total = total?.withinClocks
            chosen.insert(.total)
        }
    }

    private var chosen: Parts

    /// The limits of requests that set none: 10 s to connect, 60 s without a byte.
    ///
    /// There is no limit on the whole try, since nobody knows how long a download takes; silence is what tells that
    /// a peer is gone. Sixty seconds is what URLSession waits.
    public static let standard = Timeouts(
        connect: .seconds(10),
        firstByte: nil,
        idle: .seconds(60),
        total: nil,
        chosen: []
    )

    /// Sets limits; each nil means none.
    public init(connect: Duration?, firstByte: Duration?, idle: Duration?, total: Duration?) {
        self.init(connect: connect, firstByte: firstByte, idle: idle, total: total, chosen: .all)
    }

    private init(connect: Duration?, firstByte: Duration?, idle: Duration?, total: Duration?, chosen: Parts) {
        self.connect = connect?.withinClocks
        self.firstByte = firstByte?.withinClocks
        self.idle = idle?.withinClocks
        self.total = total?.withinClocks
        self.chosen = chosen
    }

    /// Takes over the limits of another value for every part that was not set here.
    ///
    /// A part that the other value leaves open stays as it is. A total that was only cut (``cutTotal(to:)``) stays cut.
    mutating func fill(from other: Timeouts) {
        let before = chosen
        if !before.contains(.connect), let limit = other.connect { connect = limit }
        if !before.contains(.firstByte), let limit = other.firstByte { firstByte = limit }
        if !before.contains(.idle), let limit = other.idle { idle = limit }
        if !before.contains(.total), let limit = other.total { total = min(total ?? limit, limit) }
        chosen = before
    }

    /// Shortens the whole try to what a deadline has left; that is not a choice of the caller's.
    mutating func cutTotal(to remaining: Duration) {
        let before = chosen
        total = min(total ?? remaining, remaining)
        chosen = before
    }

    private struct Parts: OptionSet {
        let rawValue: UInt8
        static let connect = Parts(rawValue: 1)
        static let firstByte = Parts(rawValue: 2)
        static let idle = Parts(rawValue: 4)
        static let total = Parts(rawValue: 8)
        static let all: Parts = [.connect, .firstByte, .idle, .total]
    }
}

extension Timeouts: Hashable {
    /// Whether the limits are the same, set or not.
    public static func == (left: Timeouts, right: Timeouts) -> Bool {
        left.connect == right.connect && left.firstByte == right.firstByte && left.idle == right.idle
            && left.total == right.total
    }

    /// Feeds the limits to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(connect)
        hasher.combine(firstByte)
        hasher.combine(idle)
        hasher.combine(total)
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
    ///
    /// What a stage hands on has what is left of it. It ends waits for a slot, an adapter, a retrier or a credential by
    /// cancelling them; one that does not heed this goes on to its end, but nothing is sent after it.
    public var deadline: Duration? {
        get { self[option: DeadlineOption.self] }
        set { self[option: DeadlineOption.self] = newValue?.withinClocks }
    }

    /// The request with what a wait has left of its deadline; nil where nothing is left (rule R20).
    package func afterWaiting(_ wait: Duration) -> HTTPRequest? {
        guard let deadline, wait > .zero else { return self }
        guard deadline > wait else { return nil }
        var copy = self
        copy.deadline = deadline - wait
        copy.timeouts.cutTotal(to: deadline - wait)
        return copy
    }
}
