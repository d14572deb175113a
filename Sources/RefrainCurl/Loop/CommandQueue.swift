// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
internal import RefrainCore
internal import RefrainHTTP

/// A call of another thread to a loop.
enum Command {
    /// Send this request when its origin has a free connection.
    case start(Transfer)
    /// End this transfer, because its task was cancelled.
    case cancel(Transfer)
    /// Resume this transfer: there is room for the response, or more of the request.
    case resume(Transfer)
    /// The response will not be read.
    case discard(Transfer)
    /// A name that was not found was looked up again.
    case lookedUp(String, refrain_name_result)
    /// Run this job of a task on the loop's thread.
    case run(UnownedJob)
    /// End all transfers, and accept new ones.
    case reset(UnsafeContinuation<Void, Never>)
    /// End all transfers and the thread.
    case stop(UnsafeContinuation<Void, Never>?)
}

/// The pending commands of a loop, its owner, and whether a command must wake the thread.
///
/// The thread is woken once per batch of commands, and not while it is busy.
struct CommandQueue {
    enum Phase { case idle, running, stopping, stopped }

    /// The only thread that may use the loop's driver and libcurl's handles.
    enum Owner {
        /// The loop's thread, which checks for commands before it waits.
        case thread
        /// The loop's thread, which waits for sockets.
        case poll
        /// The same, with libcurl's socket interface.
        case socketPoll
        /// No owner: no transfer is active, and the loop's thread waits for a command.
        case none
        /// A calling thread that drives its own request; the loop's thread waits for ownership.
        case leader
        /// The first thread that submits a command; the leader waits for its response without using the loop.
        case waitingLeader
    }

    /// How to wake the loop's thread: not at all, from its poll of either kind, or from its wait for ownership.
    enum Wake { case not, fromPoll, fromSocketPoll, fromWait }

    var phase = Phase.idle
    private(set) var owner = Owner.thread
    private var pending: [Command] = []
    /// The number of leads so far, which identifies the last one.
    private(set) var leaders: UInt64 = 0
    private var backoff = SpinBackoff()

    /// Adds a command, and returns how the thread must be woken for it.
    mutating func add(_ command: Command) -> Wake {
        pending.append(command)
        switch owner {
        case .thread, .leader:
            return .not
        case .poll:
            owner = .thread
            return .fromPoll
        case .socketPoll:
            owner = .thread
            return .fromSocketPoll
        case .none:
            owner = .thread
            return .fromWait
        case .waitingLeader:
            backoff.noteMiss()
            owner = .thread
            return .fromWait
        }
    }

    var hasCommands: Bool { !pending.isEmpty }

    // MARK: The thread

    /// Exchanges the pending commands for an empty list, whose storage is reused.
    mutating func take(into list: inout [Command]) {
        owner = .thread
        swap(&pending, &list)
    }

    /// Returns whether the thread may wait for sockets; if so, the next command wakes it.
    mutating func prepareToPoll(sockets: Bool = false) -> Bool {
        guard pending.isEmpty else { return false }
        owner = sockets ? .socketPoll : .poll
        return true
    }

    /// Gives up ownership, unless there are commands.
    mutating func park() {
        if owner == .thread, pending.isEmpty { owner = .none }
    }

    /// Takes ownership if there is no owner.
    mutating func takeIfFree() -> Bool {
        guard owner == .none else { return false }
        owner = .thread
        return true
    }

    // MARK: A leader

    /// The identity of a leader.
    struct Lead {
        fileprivate var number: UInt64
    }

    /// Takes ownership if there is no owner and the response is likely to arrive while the leader waits.
    mutating func lead() -> Lead? {
        guard owner == .none, backoff.mayWait() else { return nil }
        owner = .leader
        leaders &+= 1
        return Lead(number: leaders)
    }

    /// Returns whether the leader may wait for its response; if so, any thread that adds a command ends the lead.
    mutating func leaderWaits() -> Bool {
        guard pending.isEmpty else { return false }
        owner = .waitingLeader
        return true
    }

    /// Takes ownership again after a wait; returns false if the loop's thread has taken it.
    mutating func leaderGoesOn(_ lead: Lead) -> Bool {
        guard owner == .waitingLeader, lead.number == leaders else { return false }
        owner = .leader
        return true
    }

    /// Passes ownership and a command to the thread.
    ///
    /// The command precedes all that were added during the lead, because they may refer to it, such as the cancellation
    /// of a request that is to be started.
    mutating func endLead(with command: Command) -> Wake {
        pending.insert(command, at: 0)
        owner = .thread
        return .fromWait
    }

    /// Passes ownership to the thread if there is work left; otherwise there is no owner.
    mutating func endLead(isDone: Bool) -> Wake {
        isDone ? backoff.noteHit() : backoff.noteMiss()
        owner = isDone && pending.isEmpty ? .none : .thread
        return owner == .thread ? .fromWait : .not
    }
}
