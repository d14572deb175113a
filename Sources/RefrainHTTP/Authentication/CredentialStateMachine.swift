// SPDX-License-Identifier: Apache-2.0
/// Which credential a request was signed with, and how many refreshes had ended by then.
package struct CredentialVersion: Hashable, Sendable {
    /// The number of the credential; 0: the request was not signed.
    package var number = 0
    /// The refreshes that had ended when the request was signed.
    package var endedRefreshes = 0

    package init(number: Int = 0, endedRefreshes: Int = 0) {
        self.number = number
        self.endedRefreshes = endedRefreshes
    }
}

/// A credential and its refreshes, as a pure state machine (rule R27).
///
/// At most one refresh runs at a time. Credentials have versions: a request that was refused with an older one than the
/// current needs no refresh. A request that was in flight while a refresh failed shares that failure, however late its
/// own refusal comes; only a request that is signed afterwards starts another refresh.
package struct CredentialStateMachine<Credential> {
    /// What a request that needs a credential does.
    package enum Step {
        /// It is signed with this credential.
        case use(Credential, CredentialVersion)
        /// It is sent without a credential.
        case unsigned(CredentialVersion)
        /// It waits for the refresh that is running.
        case join
        /// It starts a refresh with this generation, in place of the credential, and waits for it.
        case refresh(generation: Int, replacing: Credential?)
        /// It fails.
        case fail(any Error)
    }

    package private(set) var credential: Credential?
    /// The generation of the refresh that is running.
    ///
    /// The end of a refresh of another generation changes nothing.
    package private(set) var generation: Int?
    private var lastGeneration = 0
    private var number = 0
    private var isRefused = false
    /// How many requests may still be signed with the credential although it is due for a refresh.
    private var usesWhenDue = 0
    private var endedRefreshes = 0
    private var lastFailure: (any Error)?
    private var history: RefreshHistory
    /// The failure of requests without a credential; nil: a refresh obtains the first one.
    private let missing: (any Error)?

    /// Makes a state machine.
    ///
    /// - Parameters:
    ///   - credential: the first credential.
    ///   - missing: the failure of requests while there is no credential; nil: a refresh obtains it.
    ///   - window: how often the credential may be refreshed; nil: no limit.
    package init(_ credential: Credential? = nil, missing: (any Error)? = nil, window: Auth.RefreshWindow? = nil) {
        self.credential = credential
        self.missing = missing
        number = credential == nil ? 0 : 1
        history = RefreshHistory(window)
    }

    /// The version of a request that is signed now.
    package var version: CredentialVersion { CredentialVersion(number: number, endedRefreshes: endedRefreshes) }

    /// Returns what a request does that is about to be sent.
    ///
    /// - Parameters:
    ///   - obtains: whether a credential that is missing or out of date is refreshed first, rather than on a refusal.
    ///   - now: the monotonic time.
    ///   - isUsable: whether a credential can be sent.
    package mutating func sign(
        obtaining obtains: Bool = true,
        now: Duration = .zero,
        if isUsable: (Credential) -> Bool
    ) -> Step {
        if generation != nil { return .join }
        if let credential, !isRefused {
            if isUsable(credential) { return .use(credential, version) }
            if usesWhenDue > 0 {
                usesWhenDue -= 1
                return .use(credential, version)
            }
        }
        return obtains ? refresh(now) : .unsigned(CredentialVersion(endedRefreshes: endedRefreshes))
    }

    /// Returns what a request does that was refused with a credential.
    ///
    /// - Parameter marks: whether later requests are not signed with this credential either.
    package mutating func refused(
        _ refused: CredentialVersion,
        marking marks: Bool = true,
        now: Duration = .zero,
        if isUsable: (Credential) -> Bool
    ) -> Step {
        if generation == nil, let lastFailure, refused.endedRefreshes < endedRefreshes { return .fail(lastFailure) }
        if marks { markRefused(refused) }
        let isCurrent = refused.number == number && number > 0
        return isCurrent && generation == nil ? refresh(now) : sign(now: now, if: isUsable)
    }

    /// Notes that a credential was refused, so that later requests are not signed with it.
    package mutating func markRefused(_ refused: CredentialVersion) {
        if refused.number == number, number > 0 { isRefused = true }
    }

    /// Lets one request be signed with a credential that was due for a refresh when it came.
    ///
    /// A request that has waited for it is sent with it once, rather than wait for another one, which may be as due.
    package mutating func allowUse(of fresh: CredentialVersion, if isUsable: (Credential) -> Bool) {
        guard fresh.number == number, let credential, !isUsable(credential) else { return }
        usesWhenDue = usesWhenDue.addingSaturated(1)
    }

    /// Ends a refresh.
    ///
    /// Returns false, and changes nothing, if it is not the one that is running.
    package mutating func end(generation ended: Int, with outcome: Result<Credential, any Error>) -> Bool {
        guard generation == ended else { return false }
        generation = nil
        endedRefreshes += 1
        switch outcome {
        case .success(let new):
            credential = new
            number += 1
            isRefused = false
            usesWhenDue = 0
            lastFailure = nil
        case .failure(let failure):
            lastFailure = failure
        }
        return true
    }

    /// Sets the credential, or removes it.
    ///
    /// A refresh that is running is ignored when it ends.
    package mutating func replace(with new: Credential?) {
        credential = new
        generation = nil
        isRefused = false
        usesWhenDue = 0
        lastFailure = nil
        // Also for nil, so that a request from before is not taken for one that was signed since.
        number += 1
    }

    private mutating func refresh(_ now: Duration) -> Step {
        if credential == nil, let missing { return .fail(missing) }
        guard !history.isExhausted(now: now) else { return .fail(Auth.Failure.excessiveRefresh) }
        history.note(now: now)
        lastGeneration += 1
        generation = lastGeneration
        return .refresh(generation: lastGeneration, replacing: credential)
    }
}

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
