// SPDX-License-Identifier: Apache-2.0
/// The owner of an in-flight request: the task that the request runs in is its own.
package protocol RequestOwner: AnyObject, Sendable {
    /// Cancels the task that the request runs in.
    func cancelTask()
}

/// The requests in flight behind a stage, each in a task that a reset cancels and awaits.
package final class InFlightRequests: Sendable {
    /// How a request that arrives during a reset is handled.
    enum Admission {
        /// Refused with ``HTTPError/Code/resetInProgress``.
        case closesForResets
        /// Admitted, and not part of the reset.
        case staysOpen
    }

    private let admission: Admission
    private let state = Locked(State())

    private struct State {
        var tasks: [UInt64: Task<HTTPResult, Never>] = [:]
        /// Those of the tasks that a reset awaits without cancelling them.
        var protected: Set<UInt64> = []
        /// Requests that run in the task of their owner.
        var owned: [Owned] = []
        var lastNumber: UInt64 = 0
        /// Requests up to this number are part of a reset.
        var lastDraining: UInt64 = 0
        var reset: Task<Void, Never>?
        /// Whether no further request is admitted.
        var isClosed = false
        /// The owned requests that a reset still waits for, and the continuation of the reset.
        var draining: Set<UInt64> = []
        var drained: UnsafeContinuation<Void, Never>?

        /// The number of a new request; nil if it is refused.
        mutating func begin(_ admission: Admission, isProtected: Bool) -> UInt64? {
            if admission == .closesForResets, reset != nil || isClosed, !isProtected { return nil }
            lastNumber &+= 1
            return lastNumber
        }

        /// Whether a request has not returned yet.
        ///
        /// Tasks that it started may outlive it, and are not counted.
        func isUnderWay(_ context: InFlightContext) -> Bool {
            tasks[context.number] != nil || context.place != nil
        }

        mutating func add(_ request: Owned) {
            request.context.place = owned.count
            owned.append(request)
        }

        /// Removes an owned request that has returned; returns the reset that waited for it as the last one.
        mutating func endOwned(_ context: InFlightContext) -> UnsafeContinuation<Void, Never>? {
            if let place = context.place.take() {
                let last = owned.removeLast()
                if place < owned.count {
                    last.context.place = place
                    owned[place] = last
                }
            }
            guard !draining.isEmpty, draining.remove(context.number) != nil, draining.isEmpty else { return nil }
            return drained.take()
        }
    }

    private struct Owned {
        let context: InFlightContext
        let owner: any RequestOwner
        let isProtected: Bool
    }

    init(_ admission: Admission) { self.admission = admission }

    /// The number of requests in flight.
    var count: Int { state.withLock { $0.tasks.count + $0.owned.count } }

    /// Loads a request in a new task, which a reset cancels.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let begun: (number: UInt64, task: Task<HTTPResult, Never>)? = state.withLock { state in
            let isProtected = Self.isForRefresh
            guard let number = state.begin(admission, isProtected: isProtected) else { return nil }
            if isProtected { state.protected.insert(number) }
            // Registered under the lock, so that a reset either cancels the request or refuses it.
            let task = Task { [within = InFlightContext.current] in
                await InFlightContext.$current.withValue(InFlightContext(self, number, within)) {
                    await next.load(request)
                }
            }
            state.tasks[number] = task
            return (number, task)
        }
        guard let (number, task) = begun else { return Self.refused(request) }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        state.withLock { state in
            state.tasks[number] = nil
            if !state.protected.isEmpty { state.protected.remove(number) }
        }
        return result
    }

    /// Registers a request that runs in the task of its owner, which a reset cancels; returns nil if it is refused.
    ///
    /// The task is made by ``InFlightContext/starting(_:)`` of what it returns.
    package func enter(_ owner: any RequestOwner) -> InFlightContext? {
        let outer = InFlightContext.current
        return state.withLock { state in
            let isProtected = Self.isForRefresh
            guard let number = state.begin(admission, isProtected: isProtected) else { return nil }
            let context = InFlightContext(self, number, outer)
            state.add(Owned(context: context, owner: owner, isProtected: isProtected))
            return context
        }
    }

    /// Removes a request that has returned.
    package func leave(_ context: InFlightContext) {
        state.withLock { $0.endOwned(context) }?.resume()
    }

    /// Whether the calling code refreshes a credential: a reset lets it finish, so that a rotated token is not lost.
    private static var isForRefresh: Bool { AuthenticationScope.operations.contains(where: \.isActive) }

    static func refused(_ request: HTTPRequest) -> HTTPResult {
        .failure(
            HTTPError(
                .resetInProgress,
                request: request,
                message: "the chain is being reset; try again when that is done",
                bytesSent: 0
            )
        )
    }

    /// Cancels the requests in flight, calls `rest`, waits until all requests have returned, and admits requests again.
    ///
    /// Requests of a refresh of credentials are not cancelled, and are awaited before `rest` is called.
    ///
    /// Concurrent resets are combined. A reset called from within one of these requests cannot wait for that request;
    /// it returns immediately, and the reset continues without it. So does one that a stage further out passes on, and
    /// one that is called from within any request or refresh while another one is in progress.
    func reset(_ rest: @escaping @Sendable () async -> Void = {}) async {
        let caller = InFlightContext.current ?? InFlightContext.ofReset
        let refreshes = AuthenticationScope.operations
        let (reset, isNew) = state.withLock { state in
            if let reset = state.reset { return (reset, false) }
            let protected = state.tasks.filter { state.protected.contains($0.key) }.values
            let others = state.tasks.filter { !state.protected.contains($0.key) }.values
            let owned = state.owned
            state.lastDraining = state.lastNumber
            // Detached, because the reset belongs to no request, even if a request called it.
            let reset = Task.detached {
                for task in others { task.cancel() }
                for request in owned where !request.isProtected { request.owner.cancelTask() }
                // First, since a stage or a transport further in ends all that it has when it is reset.
                for task in protected { _ = await task.value }
                await self.drain(owned.filter(\.isProtected))
                // Further in it is known what the reset was called from, which must not be waited for there either.
                await AuthenticationScope.$operations.withValue(refreshes) {
                    await InFlightContext.$ofReset.withValue(caller) { await rest() }
                }
                for task in others { _ = await task.value }
                await self.drain(owned)
                self.state.withLock { $0.reset = nil }
            }
            state.reset = reset
            return (reset, true)
        }
        // One in progress may wait further in for what this one is called from.
        let mayBeAwaited = !isNew && (Self.isForRefresh || caller?.isUnderWay == true)
        guard caller?.contains(self) != true, !mayBeAwaited else { return }
        await reset.value
    }

    /// Admits no further request, and returns when those in flight have returned; after the timeout they are cancelled.
    ///
    /// - Returns: whether all returned by themselves.
    func close(timeout: Duration?, on clock: AnyClock) async -> Bool {
        state.withLock { $0.isClosed = true }
        let isLate = Locked(false)
        let timer = timeout.map { timeout in
            Task {
                guard await clock.waits(for: max(.zero, timeout).clampedToDelay) else { return }
                isLate.withLock { $0 = true }
                for task in self.state.withLock({ Array($0.tasks.values) }) { task.cancel() }
            }
        }
        while let task = state.withLock({ $0.tasks.values.first }) {
            _ = await task.value
            // The caller of the request removes it from the list.
            await Task.yield()
        }
        timer?.cancel()
        return !isLate.withLock { $0 }
    }

    /// Whether the current code runs within one of these requests.
    var areAroundPresentCode: Bool { InFlightContext.current?.contains(self) ?? false }

    /// Whether one of these requests may wait for a request of the current code: that of a refresh may be for others
    /// than the request that began it.
    var mayNeedPresentCode: Bool { areAroundPresentCode || Self.isForRefresh }

    /// Returns when these owned requests have returned.
    private func drain(_ requests: [Owned]) async {
        // Unsafe: resumed once, here if all have returned, otherwise by the removal of the last one.
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            let isDone = state.withLock { state in
                state.draining = Set(requests.filter { $0.context.place != nil }.map(\.context.number))
                if !state.draining.isEmpty { state.drained = continuation }
                return state.draining.isEmpty
            }
            if isDone { continuation.resume() }
        }
    }

    fileprivate func isDraining(_ context: InFlightContext) -> Bool {
        state.withLock { $0.lastDraining >= context.number && $0.isUnderWay(context) }
    }

    fileprivate func isUnderWay(_ context: InFlightContext) -> Bool { state.withLock { $0.isUnderWay(context) } }
}

/// The requests that the current code runs within, the innermost first.
package final class InFlightContext: @unchecked Sendable {
    // @unchecked Sendable: `place` is used with the lock of `inFlight` held; the rest never changes.
    @TaskLocal static var current: InFlightContext?
    /// The requests that a reset was called from, while it is carried out.
    @TaskLocal static var ofReset: InFlightContext?

    /// Whether the current code runs within a request of any chain.
    static var isInside: Bool { current != nil }

    private let inFlight: InFlightRequests
    fileprivate let number: UInt64
    /// Where the request is among the owned ones of `inFlight`; nil: it is none of them, or has returned.
    fileprivate var place: Int?
    private let outer: InFlightContext?

    init(_ inFlight: InFlightRequests, _ number: UInt64, _ outer: InFlightContext?) {
        self.inFlight = inFlight
        self.number = number
        self.outer = outer
    }

    /// Makes a task that runs within this request.
    package func starting<Made>(_ make: () -> Made) -> Made { Self.$current.withValue(self, operation: make) }

    func contains(_ wanted: InFlightRequests) -> Bool {
        inFlight === wanted && inFlight.isUnderWay(self) || (outer?.contains(wanted) ?? false)
    }

    /// Whether one of the requests has not returned yet.
    var isUnderWay: Bool { inFlight.isUnderWay(self) || (outer?.isUnderWay ?? false) }

    /// Whether the request is part of a reset in progress.
    ///
    /// A reset cancels requests one after another. A slot that a cancelled request frees must not go to a request that
    /// is about to be cancelled.
    var isDraining: Bool { inFlight.isDraining(self) || (outer?.isDraining ?? false) }
}
