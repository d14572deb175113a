// SPDX-License-Identifier: Apache-2.0
import RefrainSession
import TestSupport

extension Session {
    /// A session without budgets and, where it is given, on a clock of the test's.
    static func testing(
        _ loader: any HTTPLoader,
        interceptor: (any RequestInterceptor)? = nil,
        monitors: [any EventMonitor] = [],
        clock: InstantClock? = InstantClock(),
        change: (inout Settings) -> Void = { _ in }
    ) -> Session {
        var settings = Settings()
        settings.budgets = nil
        if let clock { settings.clocks = clock.pair }
        change(&settings)
        return Session(loader: loader, interceptor: interceptor, eventMonitors: monitors, settings: settings)
    }
}

extension EventMonitor where Self == ClosureEventMonitor {
    /// Sets a signal when a request's next attempt is decided on.
    static func retrying(_ signal: Signal) -> ClosureEventMonitor {
        let monitor = ClosureEventMonitor()
        monitor.requestIsRetrying = { _ in signal.set() }
        return monitor
    }

    /// Sets a signal when a request has ended.
    static func finished(_ signal: Signal) -> ClosureEventMonitor {
        let monitor = ClosureEventMonitor()
        monitor.requestDidFinish = { _ in signal.set() }
        return monitor
    }
}

extension DownloadRequest {
    /// Returns when so many bytes are in the file.
    func received(atLeast count: Int64) async {
        // No event: progress is told before the bytes are written.
        while bytesReceived < count { await Task.yield() }
    }
}

/// Returns when an object has been freed.
func untilFreed(_ object: () -> AnyObject?) async {
    // No event: the runtime drops the last reference, and what a request holds goes before it.
    while object() != nil { await Task.yield() }
}
