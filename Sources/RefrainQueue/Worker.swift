// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP

extension RequestQueue {
    /// Sends the requests of a queue, so many at a time, and writes their results.
    ///
    /// It neither counts attempts nor waits between them: for each claim it calls the engine once, which answers that
    /// the request is done, has failed, follows later, or that its outcome is unknown.
    public final class Worker: Sendable {
        /// How many requests are in flight.
        public let concurrency: Int

        private let queue: RequestQueue
        private let send: @Sendable (HTTPRequest) async -> HTTPResult
        private let wakeup = Wakeup()
        private let state = Locked(State())

        /// The longest wait between two attempts that stays in memory.
        static let longestWait = Duration.seconds(10)
        /// How long a result is kept for a store that is away, if the lease is over earlier.
        private static let patience = Duration.seconds(60)
        /// How long nothing is taken after a session or a chain that is reset or closed has refused a request.
        private static let refusalPause = Duration.seconds(1)
        /// The most requests of one claim: they are read into memory together, and a database counts no further than 32
        /// bits.
        private static let claimLimit = 1000
        /// How often requests whose keys age are looked for, and rows that are not needed any more are removed.
        private static let upkeepInterval = Duration.seconds(5)

        private struct State {
            var inFlight: [Int64: Flight] = [:]
            var isStopping = false
            var failure: QueueError?
            var refusedResults = 0
            /// Until when nothing is taken.
            var pauseEnd = Duration.zero
            var onEnd: (@Sendable (Item) -> Void)?
            var isRunning = false
            /// The runs that wait for their turn; true gives it to them.
            var waitingRuns: [Promise<Bool>] = []
        }

        /// A claim whose request is on its way.
        private struct Flight {
            let claim: Claim
            let lease: Lease
            let began: ContinuousClock.Instant
            var task: Task<Void, Never>?
        }

        init(
            _ queue: RequestQueue,
            concurrency: Int,
            send: @escaping @Sendable (HTTPRequest) async -> HTTPResult
        ) {
            self.queue = queue
            self.concurrency = max(1, concurrency)
            self.send = send
            queue.register(wakeup)
        }

        /// Sets the handler of requests that have an outcome: done, failed or unknown.
        ///
        /// It is called after the outcome was stored, once for each, and not at all if the process ends between the
        /// two. It replaces an earlier handler.
        public func onEnd(_ handler: @escaping @Sendable (Item) -> Void) {
            state.withLock { $0.onEnd = handler }
        }

        /// How many results were refused, because another worker had taken over their requests.
        public var refusedResults: Int { state.withLock { $0.refusedResults } }

        /// Works until the task is cancelled; then finishes what is in flight, and gives back what has not begun.
        ///
        /// A run that is begun before an earlier one of this worker has ended waits for that end.
        ///
        /// - Parameter grace: how long requests in flight have to end after a cancellation; then they are cancelled,
        ///   too. Defaults to 30 s.
        /// - Throws: ``QueueError`` where the store fails: a result that cannot be written ends the run.
        public func run(grace: Duration = .seconds(30)) async throws(QueueError) {
            guard await waitForTurn() else { return }
            defer { passTurnOn() }
            state.withLock { state in (state.isStopping, state.failure) = (false, nil) }
            // A task of its own, since a cancellation must not reach the requests in flight, and outside of a loop that
            // runs the worker again, since their attempts are not that loop's.
            let work = Task { () -> QueueError? in
                await OuterRetry.outside {
                    do throws(QueueError) {
                        try await self.takeRequests()
                    } catch {
                        self.stop(because: error)
                    }
                    await self.drain(grace)
                }
                return self.state.withLock { $0.failure }
            }
            let failure = await withTaskCancellationHandler {
                await work.value
            } onCancel: {
                self.stop(because: nil)
            }
            if let failure { throw failure }
        }

        /// Waits until no other run goes on; returns false if the task was cancelled before.
        ///
        /// Two runs at once would take each other's slots, and the second would undo the end of the first.
        private func waitForTurn() async -> Bool {
            let turn = Promise<Bool>()
            state.withLock { state in
                if state.isRunning { state.waitingRuns.append(turn) } else { turn.fulfill(true) }
                state.isRunning = true
            }
            return await withTaskCancellationHandler {
                await turn.value
            } onCancel: {
                turn.fulfill(false)
            }
        }

        private func passTurnOn() {
            state.withLock { state in
                while !state.waitingRuns.isEmpty {
                    if state.waitingRuns.removeFirst().fulfill(true) { return }
                }
                state.isRunning = false
            }
        }

        private func stop(because failure: QueueError?) {
            state.withLock { state in
                state.isStopping = true
                state.failure = state.failure ?? failure
            }
            wakeup.signal()
        }

        // MARK: Claims

        private func takeRequests() async throws(QueueError) {
            var upkeep = Upkeep(store: queue.store)
            var wantsBegun = false
            while !state.withLock({ $0.isStopping }) {
                var looksAgain = false
                do throws(QueueError) {
                    if try await keepUp(&upkeep) { wantsBegun = true }
                    let now = queue.clocks.now
                    let free = state.withLock { now < $0.pauseEnd ? 0 : concurrency - $0.inFlight.count }
                    if free > 0 {
                        let limit = min(free, Self.claimLimit)
                        let count = try await claim(limit, wantsBegun: wantsBegun)
                        // The next look is for all requests, and at once where this one has left slots to fill.
                        looksAgain = wantsBegun || count == limit
                        wantsBegun = false
                    }
                } catch  where error.isTransient {
                    // The store comes back, or the leases of what is in flight end.
                    looksAgain = false
                }
                if !looksAgain {
                    let limit = min(queue.store.pollInterval, upkeep.renewalInterval)
                    await wakeup.wait(atMost: limit, on: queue.clocks.timer)
                }
            }
        }

        /// When the store is looked after next.
        private struct Upkeep {
            var tidying: Duration?
            var renewal: Duration?
            let renewalInterval: Duration

            init(store: StoreThread) {
                renewalInterval = store.lease.map { $0 / 3 } ?? RequestQueue.Worker.upkeepInterval
            }
        }

        /// Renews the claims in flight and removes old rows, each in its time.
        ///
        /// - Returns: whether requests whose keys age are to be looked for.
        private func keepUp(_ upkeep: inout Upkeep) async throws(QueueError) -> Bool {
            let now = queue.clocks.now
            if now >= upkeep.renewal ?? now {
                upkeep.renewal = now + upkeep.renewalInterval
                try await renew()
            }
            guard now >= upkeep.tidying ?? now else { return false }
            upkeep.tidying = now + Self.upkeepInterval
            // What a worker has ended is read once more, for the handler, which is tried as long as the write is.
            let keep = max(queue.settings.keep.withinClocks, Self.patience)
            try await queue.store.call { store throws(QueueError) in try store.tidy(keep: keep) }
            return true
        }

        private func renew() async throws(QueueError) {
            let start = ContinuousClock.now
            // What the other workers of this queue have claimed is renewed with it.
            let tokens = queue.tokens
            let owned = try await queue.store.call { store throws(QueueError) in
                try store.renew(tokens.withLock { Set($0.keys) })
            }
            guard queue.store.lease != nil else { return }
            for flight in state.withLock({ Array($0.inFlight.values) }) where flight.began < start {
                if owned.contains(flight.claim.id) {
                    flight.lease.renew(from: start)
                } else {
                    // Another worker has it: nothing more is sent, and its result would be refused.
                    flight.lease.end()
                    flight.task?.cancel()
                }
            }
        }

        private func claim(_ limit: Int, wantsBegun: Bool) async throws(QueueError) -> Int {
            // Before the call: what the store counts from its own time must not be longer than what is counted here.
            let began = ContinuousClock.now
            let token = Int64.random(in: 1...Int64.max)
            queue.tokens.withLock { $0[token] = 1 }
            defer { queue.endClaim(of: token) }
            let claims = try await queue.store.call { store throws(QueueError) -> [Claim] in
                if try store.isPaused() { return [] }
                return try store.claim(limit, token: token, wantsBegun: wantsBegun)
            }
            queue.tokens.withLock { $0[token, default: 0] += claims.count }
            for claim in claims { start(claim, Lease(queue.store.lease, from: began), began) }
            return claims.count
        }

        private func start(_ claim: Claim, _ lease: Lease, _ began: ContinuousClock.Instant) {
            state.withLock { $0.inFlight[claim.id] = Flight(claim: claim, lease: lease, began: began) }
            let task = Task {
                do throws(QueueError) {
                    try await self.process(claim, lease)
                } catch {
                    // Where the store was away for a moment, the request is claimed again; otherwise the run ends: a
                    // request whose result cannot be written must not be followed by others.
                    if !error.isTransient { self.stop(because: error) }
                }
                self.state.withLock { state in
                    // The row may have come back since, with another claim.
                    if state.inFlight[claim.id]?.claim.token == claim.token { state.inFlight[claim.id] = nil }
                }
                self.queue.endClaim(of: claim.token)
                self.wakeup.signal()
            }
            state.withLock { state in
                if state.inFlight[claim.id]?.claim.token == claim.token { state.inFlight[claim.id]?.task = task }
            }
        }

        /// Waits for the requests in flight, and cancels them when their time is up.
        private func drain(_ grace: Duration) async {
            let end = queue.clocks.now.addingSaturated(grace)
            var isCancelled = false
            var upkeep = Upkeep(store: queue.store)
            while true {
                // A store that has failed ended the run already.
                _ = try? await keepUp(&upkeep)
                let flights = state.withLock { Array($0.inFlight.values) }
                guard !flights.isEmpty else { return }
                let left = end - queue.clocks.now
                if left <= .zero, !isCancelled {
                    isCancelled = true
                    for flight in flights { flight.task?.cancel() }
                }
                let limit = isCancelled ? queue.store.pollInterval : min(left, queue.store.pollInterval)
                await wakeup.wait(atMost: limit, on: queue.clocks.timer)
            }
        }

        // MARK: One claim

        private func process(_ claim: Claim, _ lease: Lease) async throws(QueueError) {
            var timeLeft: Duration?
            switch ClaimDecision.decide(claim, keyLifetime: queue.settings.keyLifetime) {
            case .end(let outcome, let reason):
                return try await write(ClaimResult(claim, outcome, error: reason), lease)
            case .send(let within): timeLeft = within
            }
            var request: HTTPRequest
            let file = claim.request.file.map { CheckedFile($0) }
            do throws(QueueError) {
                request = try claim.request.request()
                try await file?.check()
            } catch {
                // No server has said that what an earlier claim may have sent was refused.
                let outcome: ClaimResult.Outcome = claim.age == nil ? .failed : .unknown
                return try await write(ClaimResult(claim, outcome, error: error.description), lease)
            }
            guard !state.withLock({ $0.isStopping }) else { return try await giveBack(claim) }
            let mark = SendMark(claim, in: queue.store)
            request.timeout = timeLeft
            request.durableCall = DurableCall(
                earlierAttempts: claim.attempts,
                longestWait: Self.longestWait,
                isOwned: { lease.isValid },
                willWait: { mark.rest($0) },
                // Weakly: a loader may keep its requests, as a mock does, and the worker has the loader.
                refusal: { [weak self] request in
                    // A redirect may have left the body behind.
                    if let file, case .file = request.body.storage {
                        do throws(QueueError) { try await file.check() } catch {
                            return HTTPError(
                                .invalidRequest,
                                request: request,
                                message: error.description,
                                bytesSent: 0
                            )
                        }
                    }
                    let maySend = await mark.begin(lease) { () throws(QueueError) in
                        try await self?.begin(claim, lease) ?? false
                    }
                    guard !maySend else { return nil }
                    let message = "not sent: it is not this worker's any more, or its store cannot be written"
                    return HTTPError(.cancelled, request: request, message: message, bytesSent: 0)
                }
            )
            // When the wait for a next attempt ends, from the decision on it until the end of that attempt.
            let waitEnd = Locked<Duration?>(nil)
            request.attemptObserver = { [clocks = queue.clocks] record in
                let end = record.decision == .retry ? clocks.now + record.delay : nil
                waitEnd.withLock { $0 = end }
            }
            let result = await send(request)
            if case .failure(let error) = result, [.resetInProgress, .sessionInvalidated].contains(error.code) {
                let end = queue.clocks.now + Self.refusalPause
                state.withLock { $0.pauseEnd = end }
            }
            switch mark.refusal {
            case .lost: return countRefusal()
            case .failed(let error): throw error
            case nil: break
            }
            let wait = waitEnd.withLock { $0 }.map { max(.zero, $0 - queue.clocks.now) }
            try await write(self.result(of: claim, result, timeLeft, wait, file?.failure), lease)
        }

        /// Writes that a request has begun, before its first byte; returns whether it is still this worker's.
        private func begin(_ claim: Claim, _ lease: Lease) async throws(QueueError) -> Bool {
            let store = queue.store
            return try await bridged { [state] in
                lease.isValid && !state.withLock { $0.isStopping }
            } _: {
                try await store.begin(claim)
            }.answer
        }

        private func result(
            of claim: Claim,
            _ answer: HTTPResult,
            _ timeLeft: Duration?,
            _ wait: Duration?,
            _ fileError: QueueError?
        ) -> ClaimResult {
            let now = queue.clocks.wallNow
            let decision = ResultDecision.decide(
                answer,
                claim,
                timeLeft: timeLeft,
                wait: wait,
                fileError: fileError,
                now: now
            )
            var result = ClaimResult(claim, decision.outcome, error: decision.error)
            result.isUnsent = decision.isUnsent
            result.attempts = answer.attempts.count(where: \.isOfSchedule)
            result.status = answer.attempts.last?.status?.rawValue
            if case .success(let response) = answer { result.status = response.status.rawValue }
            result.record = RecordText.encode(answer.attempts, after: claim.attempts)
            return result
        }

        private func write(_ result: ClaimResult, _ lease: Lease) async throws(QueueError) {
            let store = queue.store
            let began = ContinuousClock.now
            // Also after the lease: the row's token decides whether it is written.
            let isBorne = { @Sendable in lease.isValid || .now - began < Self.patience }
            let (isWritten, isAgain) = try await bridged(while: isBorne) { try await store.finish(result) }
            let handler = result.outcome.state == .ready ? nil : state.withLock { $0.onEnd }
            guard !isWritten || handler != nil else { return }
            let (item, _) = try await bridged(while: isBorne) { [queue] in try await queue.item(result.id) }
            // The answer to the first write may have been lost, and not the write.
            guard isWritten || isAgain && item?.outcome == result.outcome.state else { return countRefusal() }
            if let handler, let item { handler(item) }
        }

        /// Makes a call for a claim, and makes it again while the store is away.
        ///
        /// - Returns: the answer, and whether the call was made more than once.
        private func bridged<Answer: Sendable>(
            while isBorne: @escaping @Sendable () -> Bool,
            _ call: @escaping @Sendable () async throws -> Answer
        ) async throws(QueueError) -> (answer: Answer, isAgain: Bool) {
            // A task of its own: a result is written also when its request was cancelled.
            let calling = Task { () -> Result<(Answer, Bool), any Error> in
                do {
                    let schedule = Backoff.constant(delay: .milliseconds(200), maxAttempts: nil)
                    return .success(
                        try await withRetry(schedule) {
                            ($0 as? QueueError)?.isTransient == true && isBorne()
                        } operation: { (attempt: Attempt) in
                            (try await call(), attempt.number > 1)
                        }
                    )
                } catch { return .failure(error) }
            }
            switch await calling.value {
            case .success((let answer, let isAgain)): return (answer, isAgain)
            case .failure(let error): throw error as? QueueError ?? QueueError(.storeFailed, "\(error)")
            }
        }

        private func giveBack(_ claim: Claim) async throws(QueueError) {
            try await queue.store.call { store throws(QueueError) in try store.release([claim]) }
        }

        private func countRefusal() { state.withLock { $0.refusedResults += 1 } }
    }
}

extension AttemptRecord {
    /// Whether it is an attempt of the schedule.
    ///
    /// A redirect and the replay after a refresh are not, nor is what was not sent because a pacer or a circuit breaker
    /// held it back, or because its worker or session ended: an outage or a few restarts would use up the attempts.
    fileprivate var isOfSchedule: Bool {
        guard ![.redirected, .credentialsRefreshed].contains(reason) else { return false }
        let isHeldBack = [.circuitOpen, .retryAfterTooLong].contains(error)
        let isRefused = [.cancelled, .resetInProgress, .sessionInvalidated].contains(error)
        return bytesSent != 0 || !isHeldBack && !isRefused
    }
}
