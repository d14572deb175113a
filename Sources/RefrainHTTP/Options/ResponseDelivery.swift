private enum StreamOption: HTTPRequestOption {
    static let defaultValue = false
}

private enum MaximumBodyOption: HTTPRequestOption {
    static let defaultValue: Int? = nil
}

private enum FreshConnectionOption: HTTPRequestOption {
    static let defaultValue = false
}

extension HTTPRequest {
    /// Whether the response is handed over as soon as its head is there, with a body that is read as it arrives.
    ///
    /// Otherwise, and by default, the body is collected first, up to ``maximumBodySize``. A body that is read as it
    /// arrives throws ``HTTPError`` where it is cut short; the chain does not try again by itself from there.
    public var streamsResponse: Bool {
        get { self[option: StreamOption.self] }
        set { self[option: StreamOption.self] = newValue }
    }

    /// How many bytes of a body are accepted, decoded.
    ///
    /// A larger one fails with ``HTTPError/Code/dataLengthExceedsMaximum``. Nil, the default, means
    /// ``defaultMaximumBodySize`` for bodies that are collected, and no limit for streams; a limit below zero
    /// counts as zero.
    public var maximumBodySize: Int? {
        get { self[option: MaximumBodyOption.self] }
        set { self[option: MaximumBodyOption.self] = newValue.map { max(0, $0) } }
    }

    /// The limit of bodies that are collected in memory, unless told otherwise: 64 MiB.
    public static let defaultMaximumBodySize = 64 << 20

    /// Whether the request must go over a connection that has served no other one (rule R7: 408 and 421).
    public var needsFreshConnection: Bool {
        get { self[option: FreshConnectionOption.self] }
        set { self[option: FreshConnectionOption.self] = newValue }
    }
}
