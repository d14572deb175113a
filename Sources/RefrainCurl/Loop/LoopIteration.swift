// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
internal import RefrainHTTP

/// The state of one iteration of a loop, which its transfers share.
final class LoopIteration {
    /// When the iteration began; read once, so that callbacks do not read the clock.
    var now = MonotonicTime.now

    /// No transfer exceeds a limit before this time.
    var nextLimit = MonotonicTime.never

    /// Whether a byte was sent or received since the loop last waited.
    var hadActivity = false
    /// The connections of the loop.
    var connections = ConnectionTable()
    /// The addresses to which no connection could be made.
    var failedAddresses = FailedAddresses()
    private var pipes: [ByteChannel] = []
    /// The transfers whose responses are delivered at the end of the iteration.
    private var answered: [Transfer] = []

    /// Whether a socket was closed that was not yet a connection.
    ///
    /// If a host has further addresses, libcurl (7.88) connects to the next one only when it is called again.
    var hasFailedSocket = false

    /// The watch over the time that libcurl takes.
    let watch = refrain_watch_make()

    deinit { refrain_watch_free(watch) }

    /// Checks the limits of all transfers by this time.
    func checkLimits(by time: MonotonicTime) { nextLimit = min(nextLimit, time) }

    /// Records that libcurl closes a socket.
    func noteClosed(_ socket: Int32) {
        refrain_watch_remove(watch, socket)
        if !connections.remove(socket: socket) { hasFailedSocket = true }
    }

    /// Adds a transfer whose response is delivered together with the part of its body that arrives in this iteration.
    func note(_ transfer: Transfer) { answered.append(transfer) }

    /// Adds a pipe that has data for its waiting reader.
    func note(_ pipe: ByteChannel) { pipes.append(pipe) }

    /// Wakes the waiting readers, once per iteration.
    func wakeReaders() {
        if !answered.isEmpty {
            // A transfer that has ended delivers its response when it completes.
            for transfer in answered { transfer.handOver() }
            answered.removeAll(keepingCapacity: true)
        }
        guard !pipes.isEmpty else { return }
        for pipe in pipes { pipe.wakeReader() }
        pipes.removeAll(keepingCapacity: true)
    }
}

extension LoopIteration {
    /// The iteration of transfers that no loop has started.
    // nonisolated(unsafe): never changed. A loop changes only the iterations that it has made.
    nonisolated(unsafe) static let none = LoopIteration()
}

/// Transfers that have ended and are not completed yet.
///
/// Waking a thread takes longer than resuming a continuation. While libcurl has more work, 16 transfers are completed
/// together, at most 0.2 ms after the previous ones.
struct EndedTransfers {
    private var ended: [(Transfer, HTTPError?)] = []
    private var reportBy = MonotonicTime.never

    private static let maxCount = 16
    /// In nanoseconds.
    private static let longestHold: MonotonicTime = 200_000

    /// Whether more may be added before they are completed.
    func mayGrow(now: MonotonicTime) -> Bool { ended.count < Self.maxCount && now < reportBy }

    mutating func append(_ transfer: Transfer, _ error: HTTPError?) { ended.append((transfer, error)) }

    /// Completes the transfers one right after the other: the first one wakes a thread, which then finds the
    /// continuations of the others in its queue.
    mutating func completeAll(now: MonotonicTime) {
        reportBy = now &+ Self.longestHold
        guard !ended.isEmpty else { return }
        for (transfer, error) in ended { transfer.complete(error) }
        ended.removeAll(keepingCapacity: ended.capacity < 1024)
    }
}

/// Limits the wait for sockets while libcurl may hold back received data.
///
/// When libcurl 7.88 reads for one transfer, it keeps the data of others on the HTTP/2 connection. It delivers some of
/// that only when something else arrives, or at the next call for another reason. Without shorter waits a transfer
/// whose response had arrived waited until one of its limits (in 3 of 100 runs of 5,000 requests, 64 in flight).
/// Without activity libcurl is called after 1 ms, and again after 10, 100 and each 1000.
struct HeldAnswers {
    /// The number of transfers that may use HTTP/2.
    var transfers = 0
    private var quietIterations = 0
    private let isNeeded: Bool

    init(isNeeded: Bool = CurlVersion.holdsBackAnswers) { self.isNeeded = isNeeded }

    /// Returns how long the loop may wait in this iteration, in milliseconds; at most `wait`.
    mutating func shorten(_ wait: Int32, hadActivity: Bool) -> Int32 {
        guard isNeeded, transfers > 0 else { return wait }
        quietIterations = hadActivity ? 0 : min(quietIterations + 1, Self.waits.count - 1)
        return min(wait, Self.waits[quietIterations])
    }

    private static let waits: [Int32] = [1, 10, 100, 1000]
}
