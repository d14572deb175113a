extension Auth {
    /// The maximum number of credential refreshes within a time window, beyond which a loop is assumed.
    public struct RefreshWindow: Hashable, Sendable {
        /// The length of the window; defaults to 30 s.
        public let interval: Duration
        /// The number of refreshes allowed within the window; defaults to 5.
        public let maximumAttempts: Int

        /// Five refreshes in 30 seconds.
        public static let standard = RefreshWindow()

        /// Makes a window.
        ///
        /// - Parameters:
        ///   - interval: the time in which refreshes are counted. A negative one counts as zero. Defaults to 30 s.
        ///   - maximumAttempts: the refreshes that are allowed in it. A negative number counts as 0, which allows none.
        ///     Defaults to 5.
        public init(interval: Duration = .seconds(30), maximumAttempts: Int = 5) {
            self.interval = max(.zero, interval)
            self.maximumAttempts = max(0, maximumAttempts)
        }
    }
}

/// The times of the refreshes within a window.
package struct RefreshHistory: Sendable {
    private let window: Auth.RefreshWindow?
    private var refreshes: [Duration] = []

    /// Begins a history; without a window nothing is ever too much.
    package init(_ window: Auth.RefreshWindow?) { self.window = window }

    /// Whether one more refresh now is one too many.
    package mutating func isExhausted(now: Duration) -> Bool {
        guard let window else { return false }
        refreshes.removeAll { now - $0 >= window.interval }
        return refreshes.count >= window.maximumAttempts
    }

    /// Notes a refresh.
    package mutating func note(now: Duration) {
        if window != nil { refreshes.append(now) }
    }
}
