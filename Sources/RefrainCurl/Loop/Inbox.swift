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
    /// Nobody reads this response any more.
    case discard(Transfer)
    /// End all transfers and go on.
    case reset(UnsafeContinuation<Void, Never>)
    /// End all transfers and the thread.
    case stop(UnsafeContinuation<Void, Never>?)
}

/// Commands that wait for the loop, whose turn it is to drive it, and whether anybody must be woken.
///
/// The loop's thread is woken once for a batch, and not at all while it is busy.
struct Inbox {
    enum Phase { case idle, running, stopping, stopped }

    /// Who may touch what the loop drives, libcurl's handles among it.
    enum Turn {
        /// The thread, which looks for commands before it rests.
        case thread
        /// The thread, which waits for sockets.
        case poll
        /// Nobody: nothing is under way, and the thread waits for its turn.
        case nobody
        /// A caller who drives its own request; the thread waits for its turn.
        case leader
        /// Whoever comes first: the leader waits for its answer, and touches nothing meanwhile.
        case waitingLeader
    }

    /// How to wake the thread.
    enum Wake { case not, fromPoll, toItsTurn }

    var phase = Phase.idle
    private(set) var turn = Turn.thread
    private var commands: [Command] = []
    /// How many leaders there were; the last one is known by its number.
    private(set) var leaders: UInt64 = 0
    private var patience = Patience()

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

    /// Takes the turn, if it is nobody's, and it is likely that the answer comes while the leader waits for it.
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

    /// Gives the turn to the thread if there is anything left to do, else to nobody.
    mutating func endLead(isDone: Bool) -> Wake {
        isDone ? patience.noteHit() : patience.noteMiss()
        turn = isDone && commands.isEmpty ? .nobody : .thread
        return turn == .thread ? .toItsTurn : .not
    }
}
