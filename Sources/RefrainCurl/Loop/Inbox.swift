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

/// Commands that wait for the loop, and whether it must be woken for them.
///
/// The loop is woken once for a batch, and not at all while it is busy.
struct Inbox {
    enum Phase { case idle, running, stopping, stopped }

    var phase = Phase.idle
    private var commands: [Command] = []
    private var sleeps = false

    /// Adds a command; true where the loop must be woken for it.
    mutating func add(_ command: Command) -> Bool {
        commands.append(command)
        defer { sleeps = false }
        return sleeps
    }

    var hasCommands: Bool { !commands.isEmpty }

    /// Hands the commands over in exchange for an empty list, whose memory is used again.
    mutating func take(into list: inout [Command]) {
        sleeps = false
        swap(&commands, &list)
    }

    /// Whether there is nothing to do; then the next command wakes the loop.
    mutating func prepareToSleep() -> Bool {
        sleeps = commands.isEmpty
        return sleeps
    }
}
