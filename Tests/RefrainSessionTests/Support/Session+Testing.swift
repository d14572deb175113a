import RefrainSession

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

extension Request {
    /// Waits for the end of a request that ends with an error.
    func ended() async -> RefrainError {
        while !isCancelled && !isFinished || error == nil { await Task.yield() }
        return error ?? .explicitlyCancelled
    }
}
