/// How often a credential may be refreshed in how long a time, before a loop is suspected.
public struct RefreshWindow: Hashable, Sendable {
    /// The time that is looked back on; 30 s unless told otherwise.
    public let interval: Duration
    /// How many refreshes are allowed in it; 5 unless told otherwise.
    public let maximumAttempts: Int

    /// Five refreshes in 30 seconds.
    public static let standard = RefreshWindow(unchecked: .seconds(30), 5)

    /// Sets the bounds.
    ///
    /// - Throws: `InvalidArgument` for a negative interval or fewer than one refresh.
    public init(interval: Duration = .seconds(30), maximumAttempts: Int = 5) throws(InvalidArgument) {
        guard interval >= .zero else { throw InvalidArgument("interval", is: interval, expected: "zero or more") }
        guard maximumAttempts >= 1 else {
            throw InvalidArgument("maximumAttempts", is: maximumAttempts, expected: "at least 1")
        }
        self.init(unchecked: interval, maximumAttempts)
    }

    private init(unchecked interval: Duration, _ maximumAttempts: Int) {
        self.interval = interval
        self.maximumAttempts = maximumAttempts
    }
}

/// When a credential was refreshed, as far back as a window looks.
package struct RefreshHistory: Sendable {
    private let window: RefreshWindow?
    private var refreshes: [Duration] = []

    /// Begins a history; without a window nothing is ever too much.
    package init(_ window: RefreshWindow?) { self.window = window }

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
