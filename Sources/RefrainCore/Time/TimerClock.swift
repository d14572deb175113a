/// The default clock of retries: monotonic time, and one timer thread for all sleeping tasks.
///
/// `Task.sleep` needs a dispatch timer per task. Here a sleep is an entry in one heap, so a hundred thousand waiting
/// requests are cheap, wake on time, and can be cancelled at once.
@usableFromInline
package struct TimerClock: Clock {
    /// An instant of the standard library's continuous, monotonic clock.
    @usableFromInline package typealias Instant = ContinuousClock.Instant

    /// Makes the clock.
    ///
    /// All instances share one timer.
    @inlinable
    package init() {}

    /// The current time.
    @inlinable
    package var now: Instant { ContinuousClock.now }

    /// The shortest step between two readings.
    @usableFromInline package var minimumResolution: Duration { ContinuousClock().minimumResolution }

    /// Sleeps until `deadline`.
    ///
    /// Throws `CancellationError` as soon as the task is cancelled.
    @usableFromInline
    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let isDue = await Self.sleep(for: now.duration(to: deadline), cancelledBy: nil)
        if !isDue { throw CancellationError() }
    }
}

extension TimerClock {
    /// Sleeps for `duration`.
    ///
    /// Returns false as soon as the task or the token is cancelled.
    ///
    /// It is inlined down to the point where the task is suspended, since a sleeping task keeps the frame of each
    /// function on the way there.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) package static func sleep(
        for duration: Duration,
        cancelledBy token: CancellationToken?
    ) async -> Bool {
        guard duration > .zero else { return !Task.isCancelled }
        // Written and read only with the timer's mutex held.
        nonisolated(unsafe) var timer: TimerID?
        // The timer identifies the token by its address.
        defer { withExtendedLifetime(token) {} }
        let isDue = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                start(continuation, for: duration, cancelledBy: token) { timer = $0 }
            }
        } onCancel: {
            cancel { timer }
        }
        noteResumption()
        return isDue
    }

    @usableFromInline
    static func start(
        _ continuation: UnsafeContinuation<Bool, Never>,
        for duration: Duration,
        cancelledBy token: CancellationToken?,
        store: (TimerID) -> Void
    ) {
        TimerThread.shared.add(continuation, for: duration, cancelledBy: token, store: store)
    }

    @usableFromInline
    static func cancel(_ timer: () -> TimerID?) { TimerThread.shared.cancel(timer) }
}
