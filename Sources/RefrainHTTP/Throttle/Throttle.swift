// SPDX-License-Identifier: Apache-2.0
/// Limits the number of concurrent requests, or of requests a second.
///
/// Further requests wait in order of arrival.
///
/// ```swift
/// let loader = Retry(RetryPolicy.recommended)
///     --> Throttle(maximumNumberOfRequests: 4)
///     --> PlatformLoader()
/// ```
///
/// The position in the chain determines what a slot covers. After ``Retry``, a request frees its slot between attempts,
/// so that others pass during its delay. Before it, a request keeps its slot for all attempts, and requests stay in
/// order. A slot is freed when the next loader returns, even if the response's body is still being read.
///
/// A request that is sent on behalf of another request while that one holds a slot, such as a token refresh, takes no
/// slot: it would wait for itself (rule R27).
///
/// A waiting request that is cancelled, or whose deadline passes, leaves the queue immediately.
public struct Throttle: HTTPMiddleware {
    private let slots: ThrottleSlots
    private let rate: RequestRate?
    private let clocks: RetryClocks

    /// Makes a stage without a limit, until one is set.
    public init(clocks: RetryClocks = .system) {
        slots = ThrottleSlots(limit: .max)
        rate = nil
        self.clocks = clocks
    }

    /// Makes the stage with a limit.
    ///
    /// - Parameters:
    ///   - limit: how many requests may be in flight at a time. Less than 1 counts as 1.
    ///   - clocks: the clocks that a wait is measured on, where the request has a timeout.
    public init(maximumNumberOfRequests limit: Int, clocks: RetryClocks = .system) {
        slots = ThrottleSlots(limit: limit)
        rate = nil
        self.clocks = clocks
    }

    /// Makes the stage with a limit on how many requests start in a second.
    ///
    /// The requests start at even intervals: with 10 a second, one every 100 ms. How many are in flight at a time is
    /// not limited.
    ///
    /// ```swift
    /// let loader = Retry(.recommended)
    ///     --> Throttle(requestsPerSecond: 10)
    ///     --> PlatformLoader()
    /// ```
    ///
    /// - Parameters:
    ///   - rate: the requests a second. Less than one a day, and NaN, count as one a day.
    ///   - clocks: the clocks that the intervals are measured on.
    public init(requestsPerSecond rate: Double, clocks: RetryClocks = .system) {
        slots = ThrottleSlots(limit: .max)
        self.rate = RequestRate(requestsPerSecond: rate)
        self.clocks = clocks
    }

    /// Makes the stage with a limit that comes from outside.
    ///
    /// - Throws: `InvalidArgument` for a limit under 1.
    public static func validated(
        maximumNumberOfRequests limit: Int,
        clocks: RetryClocks = .system
    ) throws(InvalidArgument) -> Throttle {
        guard limit > 0 else {
            throw InvalidArgument("maximumNumberOfRequests", is: limit, expected: "1 or more")
        }
        return Throttle(maximumNumberOfRequests: limit, clocks: clocks)
    }

    /// The maximum number of concurrent requests; setting it is ``setMaximumNumberOfRequests(_:)``.
    public var maximumNumberOfRequests: Int {
        get { slots.limit }
        nonmutating set { slots.setLimit(newValue) }
    }

    /// Changes the limit.
    ///
    /// After an increase, waiting requests are forwarded immediately. A decrease cancels no requests; it takes effect
    /// as requests in flight return. A limit under 1 counts as 1.
    public func setMaximumNumberOfRequests(_ limit: Int) { slots.setLimit(limit) }

    /// The number of waiting requests.
    public var numberOfWaitingRequests: Int { slots.waitingCount + (rate?.waitingCount ?? 0) }

    /// The number of requests that hold a slot.
    public var numberOfRunningRequests: Int { slots.runningCount }

    /// Forwards a request when a slot is free.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard request.throttle == .always, !ThrottleScope.isInside(slots) else {
            return await next.load(request)
        }
        let request = request.beginningCall(on: clocks)
        request.durableCall?.willWait?(nil)
        let began = clocks.now
        switch await rate?.admit(request, on: clocks) {
        case .admitted, nil: break
        case .cancelled: return .failure(Self.cancelled(request))
        case .pastDeadline: return .failure(Self.pastDeadline(request))
        }
        let (hasSlot, isLate) = await request.withinDeadline { await slots.take() }
        guard hasSlot else { return .failure(isLate ? Self.pastDeadline(request) : Self.cancelled(request)) }
        let operation = ActiveOperation(of: slots)
        defer {
            operation.end()
            slots.refund()
        }
        // The slot may have been freed by a request that the same reset has just cancelled.
        guard InFlightContext.current?.isDraining != true else { return .failure(Self.cancelled(request)) }
        guard !request.isPastDeadline else { return .failure(Self.pastDeadline(request)) }
        var wait = AttemptRecord.Pacing()
        wait.add(clocks.now - began, to: \.waitedForThrottle)
        let result = await ThrottleScope.$operations.withValue(ThrottleScope.operations + [operation]) {
            await next.load(request)
        }
        return result.heldBack(wait)
    }

    private static func pastDeadline(_ request: HTTPRequest) -> HTTPError {
        request.tooLate("while it waited for its turn")
    }

    private static func cancelled(_ request: HTTPRequest) -> HTTPError {
        HTTPError(.cancelled, request: request, message: "cancelled while it waited for its turn", bytesSent: 0)
    }

    /// Cancels all waiting requests; they end with ``HTTPError/Code/cancelled``.
    public func reset() async {
        slots.removeAll()
        rate?.cancelAll()
    }
}

/// The throttles whose slots are held by requests that the calling code runs within.
private enum ThrottleScope {
    @TaskLocal static var operations: [ActiveOperation] = []

    /// Whether the calling code runs within a request that holds one of these slots, or within a refresh that one has
    /// begun: where that one has left, others that wait for the refresh may hold them all.
    static func isInside(_ slots: ThrottleSlots) -> Bool {
        if operations.contains(workOf: slots) { return true }
        guard !operations.isEmpty, AuthenticationScope.operations.contains(where: \.isActive) else { return false }
        return operations.contains { $0.owner == ObjectIdentifier(slots) }
    }
}

extension Throttle {
    /// Whether a ``Throttle`` applies to a request.
    public enum Use: Hashable, Sendable {
        /// The request waits for a slot.
        case always
        /// The request is forwarded immediately and takes no slot, as for a health check.
        case never
    }
}

private enum ThrottleOption: HTTPRequestOption {
    static let defaultValue = Throttle.Use.always
}

extension HTTPRequest {
    /// Whether a ``Throttle`` applies to this request; defaults to `.always`.
    public var throttle: Throttle.Use {
        get { self[option: ThrottleOption.self] }
        set { self[option: ThrottleOption.self] = newValue }
    }
}

/// Assigns slots to waiters in order of arrival: takes events, returns the waiters to admit.
///
/// Waiters are ordered by number. A waiter that leaves early leaves a gap in the numbers, which is skipped.
struct ThrottleQueue<Waiter> {
    /// The result of an arrival.
    enum Arrival: Equatable {
        /// The arrival took a free slot.
        case runs
        /// The arrival waits with this number.
        case waits(number: UInt64)
    }

    private(set) var limit: Int
    private(set) var runningCount = 0
    private var waiters: [UInt64: Waiter] = [:]
    private var firstNumber: UInt64 = 0
    private var nextNumber: UInt64 = 0

    init(limit: Int) { self.limit = max(limit, 1) }

    var waitingCount: Int { waiters.count }

    /// Takes a slot if one is free and no waiter is queued.
    mutating func takeFreeSlot() -> Bool {
        guard runningCount < limit, waiters.isEmpty else { return false }
        runningCount += 1
        return true
    }

    /// Takes a slot, or appends the waiter to the queue.
    mutating func arrive(_ waiter: Waiter) -> Arrival {
        if takeFreeSlot() { return .runs }
        let number = nextNumber
        nextNumber &+= 1
        waiters[number] = waiter
        return .waits(number: number)
    }

    /// Removes a waiter; returns nil if it was admitted or removed before.
    mutating func leave(_ number: UInt64) -> Waiter? { waiters.removeValue(forKey: number) }

    /// Frees a slot; returns the waiter that takes it.
    mutating func finish() -> Waiter? {
        runningCount = max(runningCount - 1, 0)
        return admitOne()
    }

    /// Changes the limit; returns the waiters to admit, in order.
    mutating func setLimit(_ newLimit: Int) -> [Waiter] {
        limit = max(newLimit, 1)
        var admitted: [Waiter] = []
        while let waiter = admitOne() { admitted.append(waiter) }
        return admitted
    }

    /// Removes and returns all waiters, in order.
    ///
    /// Running requests are not affected.
    mutating func removeAll() -> [Waiter] {
        var removed: [Waiter] = []
        while let waiter = removeFirst() { removed.append(waiter) }
        return removed
    }

    private mutating func admitOne() -> Waiter? {
        guard runningCount < limit, let waiter = removeFirst() else { return nil }
        runningCount += 1
        return waiter
    }

    private mutating func removeFirst() -> Waiter? {
        guard !waiters.isEmpty else {
            firstNumber = nextNumber
            return nil
        }
        while firstNumber < nextNumber {
            let number = firstNumber
            firstNumber += 1
            if let waiter = waiters.removeValue(forKey: number) { return waiter }
        }
        return nil
    }
}

/// The slots of a throttle: the queue, its lock, and the continuations of the waiters.
final class ThrottleSlots: Sendable {
    private let queue: Locked<ThrottleQueue<Waiter>>

    init(limit: Int) { queue = Locked(ThrottleQueue(limit: limit)) }

    var limit: Int { queue.withLock { $0.limit } }
    var waitingCount: Int { queue.withLock { $0.waitingCount } }
    var runningCount: Int { queue.withLock { $0.runningCount } }

    /// Waits for a slot; returns false if the task was cancelled or the queue was emptied.
    func take() async -> Bool {
        guard !Task.isCancelled else { return false }
        if queue.withLock({ $0.takeFreeSlot() }) { return true }
        let waiter = Waiter()
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
                let answer: Bool? = queue.withLock { queue in
                    guard !waiter.isCancelled else { return false }
                    guard case .waits(let number) = queue.arrive(waiter) else { return true }
                    waiter.number = number
                    waiter.continuation = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let continuation = queue.withLock { queue -> UnsafeContinuation<Bool, Never>? in
                waiter.isCancelled = true
                guard let number = waiter.number, queue.leave(number) != nil else { return nil }
                return waiter.continuation.take()
            }
            continuation?.resume(returning: false)
        }
    }

    /// Frees a slot and admits the first waiter.
    func refund() {
        let admitted = queue.withLock { $0.finish()?.continuation.take() }
        admitted?.resume(returning: true)
    }

    /// Changes the number of slots.
    func setLimit(_ limit: Int) {
        let admitted = queue.withLock { $0.setLimit(limit).compactMap { $0.continuation.take() } }
        for continuation in admitted { continuation.resume(returning: true) }
    }

    /// Ends all waits without a slot.
    func removeAll() {
        let removed = queue.withLock { $0.removeAll().compactMap { $0.continuation.take() } }
        for continuation in removed { continuation.resume(returning: false) }
    }

    /// A request that waits for a slot.
    private final class Waiter: @unchecked Sendable {
        // @unchecked Sendable: accessed only while the queue's lock is held.
        var number: UInt64?
        var continuation: UnsafeContinuation<Bool, Never>?
        var isCancelled = false
    }
}
