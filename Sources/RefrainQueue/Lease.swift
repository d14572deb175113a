// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// How long a worker may act on a claim, by its own clock.
///
/// It ends after 90 % of the store's lease, counted from before the claim, on a clock that goes on while the process is
/// stopped or the machine sleeps: a worker that wakes up late sends nothing more. A renewal moves the end.
final class Lease: Sendable {
    private let length: Duration?
    private let lastInstant: Locked<ContinuousClock.Instant>

    /// Begins a lease at an instant before the claim; nil: it ends with the process.
    init(_ length: Duration?, from instant: ContinuousClock.Instant) {
        self.length = length
        lastInstant = Locked(instant + Self.usable(length))
    }

    /// Whether a request may still be sent.
    var isValid: Bool { length == nil || .now < lastInstant.withLock { $0 } }

    /// Extends the lease from an instant before its renewal.
    func renew(from instant: ContinuousClock.Instant) {
        lastInstant.withLock { $0 = max($0, instant + Self.usable(length)) }
    }

    /// Ends the lease.
    func end() { lastInstant.withLock { $0 = .now } }

    private static func usable(_ length: Duration?) -> Duration { (length ?? .zero) * 0.9 }
}
