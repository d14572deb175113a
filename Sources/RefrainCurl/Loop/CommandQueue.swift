internal import RefrainCore
internal import RefrainHTTP

/// What other threads ask of a loop.
enum Command {
    /// Send this request when it is its turn.
    case start(Transfer)
    /// End this transfer, the caller has lost interest.
    case cancel(Transfer)
    /// There is room for the response, or more of the request.
    case resume(Transfer)
    /// The response will not be read.
    case discard(Transfer)
    /// Run this job of a task on the loop's thread.
    case run(UnownedJob)
    /// End all transfers and go on.
    case reset(UnsafeContinuation<Void, Never>)
    /// End all transfers and the thread.
    case stop(UnsafeContinuation<Void, Never>?)
}

/// The commands that wait for the loop, the owner that drives it, and whether a thread must be woken.
///
/// The loop's thread is woken once per batch, and not while it is busy.
struct CommandQueue {
    enum Phase { case idle, running, stopping, stopped }

    /// Who may touch what the loop drives, libcurl's handles among it.
    enum Owner {
        /// The thread, which looks for commands before it rests.
        case thread
        /// The thread, which waits for sockets.
        case poll
        /// No owner: no transfer is active, and the thread waits.
        case nobody
        /// A caller who drives its own request; the thread waits for its turn.
        case leader
        /// The first thread that submits a command; the leader waits for its response without using the loop.
        case waitingLeader
    }

    /// How to wake the thread.
    enum Wake { case not, fromPoll, toItsTurn }

    var phase = Phase.idle
    private(set) var turn = Owner.thread
    private var commands: [Command] = []
    /// How many leaders there were; the last one is known by its number.
    private(set) var leaders: UInt64 = 0
    private var patience = SpinBackoff()

    /// Adds a command, and says how the thread must be woken for it.
    mutating func add(_ command: Command) -> Wake {
        commands.append(command)
        switch turn {
        case .thread, .leader:
            return .not
        case .poll:
            turn = .thread
            return .fromPoll
        case .nobody:
            turn = .thread
            return .toItsTurn
        case .waitingLeader:
            patience.noteMiss()
            turn = .thread
            return .toItsTurn
        }
    }

    var hasCommands: Bool { !commands.isEmpty }

    // MARK: The thread

    /// Hands the commands over in exchange for an empty list, whose memory is used again.
    mutating func take(into list: inout [Command]) {
        turn = .thread
        swap(&commands, &list)
    }

    /// Whether there is nothing to do but to wait for sockets; then the next command wakes the thread.
    mutating func prepareToPoll() -> Bool {
        guard commands.isEmpty else { return false }
        turn = .poll
        return true
    }

    /// Gives up the turn, if there is nothing to do.
    mutating func park() {
        if commands.isEmpty { turn = .nobody }
    }

    // MARK: A leader

    /// What a leader knows of itself.
    struct Lead {
        fileprivate var number: UInt64
    }

    /// Takes ownership if there is no owner and the response is likely to arrive while the leader waits.
    mutating func lead() -> Lead? {
        guard turn == .nobody, patience.mayWait() else { return nil }
        turn = .leader
        leaders &+= 1
        return Lead(number: leaders)
    }

    /// Whether there is nothing to do but to wait for the answer; then everybody who comes may end the lead.
    mutating func leaderWaits() -> Bool {
        guard commands.isEmpty else { return false }
        turn = .waitingLeader
        return true
    }

    /// Takes the turn back after a wait; false where the thread has it.
    mutating func leaderGoesOn(_ lead: Lead) -> Bool {
        guard turn == .waitingLeader, lead.number == leaders else { return false }
        turn = .leader
        return true
    }

    /// Gives the turn to the thread, with something to do.
    ///
    /// The command comes before all that were added meanwhile: they may be about it, such as the cancellation of a
    /// request that is to be started.
    mutating func endLead(with command: Command) -> Wake {
        commands.insert(command, at: 0)
        turn = .thread
        return .toItsTurn
    }

    /// Passes ownership to the thread if there is work left; otherwise there is no owner.
    mutating func endLead(isDone: Bool) -> Wake {
        isDone ? patience.noteHit() : patience.noteMiss()
        turn = isDone && commands.isEmpty ? .nobody : .thread
        return turn == .thread ? .toItsTurn : .not
    }
}
