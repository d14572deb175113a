internal import RefrainCore
internal import RefrainHTTP

/// The time limits of a transfer in nanoseconds; `MonotonicTime.never` for none.
///
/// A class: nearly all transfers share the standard limits, of which each one that waits would hold 32 bytes.
final class Limits: Sendable {
    let connect: Int64
    let firstByte: Int64
    let idle: Int64
    let total: Int64

    /// Most requests have the standard limits, which are converted once.
    private static let standard = Limits(converting: .standard)

    /// The limits for these times.
    static func of(_ timeouts: Timeout.Limits) -> Limits {
        timeouts == .standard ? standard : Limits(converting: timeouts)
    }

    private init(converting timeouts: Timeout.Limits) {
        connect = timeouts.connect?.delayInNanoseconds ?? .never
        firstByte = timeouts.firstByte?.delayInNanoseconds ?? .never
        idle = timeouts.idle?.delayInNanoseconds ?? .never
        total = timeouts.total?.delayInNanoseconds ?? .never
    }
}
