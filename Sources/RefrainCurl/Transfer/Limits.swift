internal import RefrainCore
internal import RefrainHTTP

/// The time limits of a transfer in nanoseconds; `MonotonicTime.never` for none.
struct Limits {
    var connect: Int64
    var firstByte: Int64
    var idle: Int64
    var total: Int64

    /// Most requests have the standard limits, which are converted once.
    private static let standard = Limits(converting: .standard)

    init(_ timeouts: Timeout.Limits) {
        self = timeouts == .standard ? Self.standard : Limits(converting: timeouts)
    }

    private init(converting timeouts: Timeout.Limits) {
        connect = timeouts.connect?.delayInNanoseconds ?? .never
        firstByte = timeouts.firstByte?.delayInNanoseconds ?? .never
        idle = timeouts.idle?.delayInNanoseconds ?? .never
        total = timeouts.total?.delayInNanoseconds ?? .never
    }
}
