// SPDX-License-Identifier: Apache-2.0
/// The credential of an authentication stage or interceptor: a ``CredentialStateMachine`` behind a lock, the requests
/// that wait, and the task that refreshes.
package final class CredentialRefresher<Credential: Sendable>: Sendable {
    /// Obtains a credential in place of the given one; nil: there was none.
    package typealias Refresh = @Sendable (Credential?) async -> Result<Credential, any Error>

    /// What a request gets.
    package enum Answer: Sendable {
        /// A credential to sign with.
        case credential(Credential, CredentialVersion)
        /// No credential: there is none yet, and none was to be obtained.
        case unsigned(CredentialVersion)
        /// The failure of the refresh.
        case failure(any Error)
        /// The request's task was cancelled, or the refresher was reset.
        case cancelled
    }

    private struct State {
        var machine: CredentialStateMachine<Credential>
        var resets = 0
        var waiters: [ObjectIdentifier: Promise<Answer>] = [:]
        var task: Task<Void, Never>?

        mutating func takeWaiters() -> [Promise<Answer>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    private let state: Locked<State>
    private let missing: (any Error)?
    private let clock: AnyClock
    private let timeLimit: Duration?
    private let isUsable: @Sendable (Credential) -> Bool

    /// Makes a refresher.
    ///
    /// - Parameters:
    ///   - credential: the first credential.
    ///   - missing: the failure of requests while there is no credential; nil: a refresh obtains it.
    ///   - window: how often the credential may be refreshed; nil: no limit.
    ///   - timeLimit: how long a request waits for a refresh, which goes on; nil: without a limit.
    ///   - clock: the clock of the window.
    ///   - isUsable: whether a credential can be sent.
    package init(
        _ credential: Credential? = nil,
        missing: (any Error)? = nil,
        window: Auth.RefreshWindow? = nil,
        timeLimit: Duration? = nil,
        clock: AnyClock = RetryClocks.system.timer,
        isUsable: @escaping @Sendable (Credential) -> Bool = { _ in true }
    ) {
        state = Locked(State(machine: CredentialStateMachine(credential, missing: missing, window: window)))
        self.missing = missing
        self.clock = clock
        self.timeLimit = timeLimit
        self.isUsable = isUsable
    }

    /// The credential.
    ///
    /// Setting it ends the wait of all requests with it.
    package var credential: Credential? {
        get { state.withLock { $0.machine.credential } }
        set {
            let (waiters, version) = state.withLock { state in
                state.machine.replace(with: newValue)
                return (state.takeWaiters(), state.machine.version)
            }
            let answer = newValue.map { Answer.credential($0, version) } ?? missing.map { .failure($0) } ?? .cancelled
            for waiter in waiters { waiter.fulfill(answer) }
        }
    }

    /// The credential and its version; nil where there is none.
    package var current: (credential: Credential, version: CredentialVersion)? {
        state.withLock { state in state.machine.credential.map { ($0, state.machine.version) } }
    }

    /// The number of requests that wait for a credential.
    package var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// The number of resets.
    package var resetCount: Int { state.withLock { $0.resets } }

    /// Whether the calling code runs within a refresh of this credential, and so must not wait for it.
    package var isWithinRefresh: Bool { AuthenticationScope.operations.contains(workOf: self) }

    /// Returns a credential to sign with.
    ///
    /// - Parameters:
    ///   - obtains: whether a missing or unusable credential is refreshed.
    ///   - refresh: obtains a credential, if this request starts the refresh.
    package func sign(obtaining obtains: Bool = true, by refresh: @escaping Refresh) async -> Answer {
        await answer(by: refresh) { machine, now in machine.sign(obtaining: obtains, now: now, if: isUsable) }
    }

    /// Returns a credential in place of the one that a request was refused with.
    ///
    /// - Parameters:
    ///   - version: the credential of the request.
    ///   - marks: whether later requests are not signed with this credential either.
    ///   - refresh: obtains a credential, if this request starts the refresh.
    package func replace(
        _ version: CredentialVersion,
        marking marks: Bool = true,
        by refresh: @escaping Refresh
    ) async -> Answer {
        await answer(by: refresh) { machine, now in machine.refused(version, marking: marks, now: now, if: isUsable) }
    }

    /// Notes that a credential was refused, so that later requests are not signed with it.
    package func markRefused(_ version: CredentialVersion) { state.withLock { $0.machine.markRefused(version) } }

    /// Lets one request be signed with a fresh credential, also where that says that it needs a refresh (rule R27).
    package func allowUse(of version: CredentialVersion) {
        state.withLock { $0.machine.allowUse(of: version, if: isUsable) }
    }

    /// Removes the credential, ends the wait of all requests, and returns when the refresh has ended.
    ///
    /// - Parameter cancels: whether the refresh is cancelled. One that exchanges a token for the next one must not be:
    ///   the service may have rotated the token by then, and the new one would be lost.
    package func reset(cancellingRefresh cancels: Bool) async {
        let (waiters, task) = state.withLock { state in
            state.machine.replace(with: nil)
            state.resets += 1
            return (state.takeWaiters(), state.task)
        }
        if cancels { task?.cancel() }
        for waiter in waiters { waiter.fulfill(.cancelled) }
        guard !isWithinRefresh else { return }
        await task?.value
    }

    private func answer(
        by refresh: @escaping Refresh,
        _ next: (inout CredentialStateMachine<Credential>, Duration) -> CredentialStateMachine<Credential>.Step
    ) async -> Answer {
        guard !Task.isCancelled else { return .cancelled }
        let waiter = Promise<Answer>()
        let key = ObjectIdentifier(waiter)
        let now = clock.now.offset
        let immediate: Answer? = state.withLock { state in
            switch next(&state.machine, now) {
            case .use(let credential, let version): return .credential(credential, version)
            case .unsigned(let version): return .unsigned(version)
            case .fail(let failure): return .failure(failure)
            case .join: break
            case .refresh(let generation, let old):
                state.task = start(generation, replacing: old, after: state.task, by: refresh)
            }
            // In the same step, so that the end of the refresh cannot be missed.
            state.waiters[key] = waiter
            return nil
        }
        if let immediate { return immediate }
        let end: @Sendable (Answer) -> Void = { [state] answer in
            state.withLock { _ = $0.waiters.removeValue(forKey: key) }
            waiter.fulfill(answer)
        }
        let alarm = timeLimit.map { limit in
            // On the system's clock: one for tests that never waits would end every refresh at once.
            Task {
                if await RetryClocks.system.timer.waits(for: limit) { end(.failure(Auth.Failure.refreshTimedOut)) }
            }
        }
        defer { alarm?.cancel() }
        return await withTaskCancellationHandler {
            await waiter.value
        } onCancel: {
            end(.cancelled)
        }
    }

    /// Refreshes in a task of its own, which serves all requests and continues if the first one is cancelled.
    ///
    /// - Parameter previous: a refresh that a reset has left behind; two at a time would use the same refresh token.
    private func start(
        _ generation: Int,
        replacing old: Credential?,
        after previous: Task<Void, Never>?,
        by refresh: @escaping Refresh
    ) -> Task<Void, Never> {
        Task {
            await previous?.value
            let operation = ActiveOperation(of: self)
            let operations = AuthenticationScope.operations + [operation]
            let outcome = await AuthenticationScope.$operations.withValue(operations) {
                // Requests of the refresh have attempts of their own, whichever attempt of another one started it.
                await OuterRetry.outside { await NestedRetry.outside { await refresh(old) } }
            }
            operation.end()
            let (waiters, answer) = state.withLock { state -> ([Promise<Answer>], Answer) in
                guard state.machine.end(generation: generation, with: outcome) else { return ([], .cancelled) }
                state.task = nil
                switch outcome {
                case .success(let new): return (state.takeWaiters(), .credential(new, state.machine.version))
                case .failure(let failure): return (state.takeWaiters(), .failure(failure))
                }
            }
            for waiter in waiters { waiter.fulfill(answer) }
        }
    }
}

/// The refreshes that the calling code runs within.
///
/// A request of a refresh must not wait for the credential that the refresh obtains.
package enum AuthenticationScope {
    @TaskLocal package static var operations: [ActiveOperation] = []
}
