import RefrainHTTP
import Testing

@testable import RefrainCurl

@Suite("Whose turn it is to drive a loop")
struct CommandQueueTests {
    /// An inbox at an address, since the macros for expectations change no value.
    private final class Case {
        var inbox = CommandQueue()

        /// One whose thread has nothing to do.
        static var parked: Case {
            let it = Case()
            it.inbox.park()
            return it
        }

        func add(_ command: Command) -> CommandQueue.Wake { inbox.add(command) }
        func prepareToPoll() -> Bool { inbox.prepareToPoll() }
        func lead() -> CommandQueue.Lead? { inbox.lead() }
        func leaderWaits() -> Bool { inbox.leaderWaits() }
        func leaderGoesOn(_ lead: CommandQueue.Lead) -> Bool { inbox.leaderGoesOn(lead) }
        func endLead(isDone: Bool) -> CommandQueue.Wake { inbox.endLead(isDone: isDone) }
        func endLead(with command: Command) -> CommandQueue.Wake { inbox.endLead(with: command) }
    }

    @Test("no caller drives the loop while the thread is busy, waits for sockets, or has commands")
    func busyThread() {
        let it = Case()
        #expect(it.lead() == nil)
        #expect(it.prepareToPoll())
        #expect(it.lead() == nil)
        #expect(it.add(.stop(nil)) == .fromPoll)
        #expect(it.add(.stop(nil)) == .not)
        #expect(!it.prepareToPoll())
        it.inbox.park()
        #expect(it.inbox.turn == .thread)
        #expect(it.lead() == nil)
    }

    @Test("one leads at a time; when it is done the next one may")
    func oneLeader() throws {
        let it = Case.parked
        _ = try #require(it.lead())
        #expect(it.lead() == nil)
        #expect(it.endLead(isDone: true) == .not)
        #expect(it.inbox.turn == .nobody)
        #expect(it.lead() != nil)
    }

    @Test("R9: what a leader hands over comes before what was added meanwhile, which may cancel it")
    func order() throws {
        let it = Case.parked
        _ = try #require(it.lead())
        let transfer = Transfer(try HTTPRequest("http://127.0.0.1/"))
        #expect(it.add(.cancel(transfer)) == .not)
        #expect(it.endLead(with: .start(transfer)) == .toItsTurn)
        var commands: [Command] = []
        it.inbox.take(into: &commands)
        guard commands.count == 2, case .start = commands[0], case .cancel = commands[1] else {
            Issue.record("the order is another one: \(commands)")
            return
        }
    }

    @Test("a command for a parked thread wakes it once")
    func command() {
        let it = Case.parked
        #expect(it.add(.stop(nil)) == .toItsTurn)
        #expect(it.add(.stop(nil)) == .not)
        #expect(it.inbox.turn == .thread)
    }

    @Test("a command during a lead waits for the leader, who leaves it to the thread")
    func commandDuringLead() throws {
        let it = Case.parked
        _ = try #require(it.lead())
        #expect(it.add(.stop(nil)) == .not)
        #expect(!it.leaderWaits())
        #expect(it.inbox.turn == .leader)
        #expect(it.endLead(isDone: true) == .toItsTurn)
        #expect(it.inbox.turn == .thread)
    }

    @Test("a command while the leader waits gives the turn to the thread, and the leader does not get it back")
    func commandDuringWait() throws {
        let it = Case.parked
        let lead = try #require(it.lead())
        #expect(it.leaderWaits())
        #expect(it.add(.stop(nil)) == .toItsTurn)
        #expect(!it.leaderGoesOn(lead))
        #expect(it.inbox.turn == .thread)
    }

    @Test("a leader that lost its turn does not take that of a later one")
    func laterLeader() throws {
        let it = Case.parked
        let first = try #require(it.lead())
        #expect(it.leaderWaits())
        _ = it.add(.stop(nil))
        var commands: [Command] = []
        it.inbox.take(into: &commands)
        it.inbox.park()
        // The one that comes next is not led, since the last one's wait was in vain.
        #expect(it.lead() == nil)
        let second = try #require(it.lead())
        #expect(it.leaderWaits())
        #expect(!it.leaderGoesOn(first))
        #expect(it.inbox.turn == .waitingLeader)
        #expect(it.leaderGoesOn(second))
    }

    @Test("what is not done at the end of a lead is the thread's")
    func handOver() throws {
        let it = Case.parked
        let lead = try #require(it.lead())
        #expect(it.leaderWaits())
        #expect(it.leaderGoesOn(lead))
        #expect(it.endLead(isDone: false) == .toItsTurn)
        #expect(it.inbox.turn == .thread)
        let next = Case.parked
        _ = try #require(next.lead())
        #expect(next.endLead(with: .stop(nil)) == .toItsTurn)
        #expect(next.inbox.hasCommands)
        #expect(next.inbox.turn == .thread)
    }

    @Test("after waits in vain fewer are led, at least one in 64; after one that was not, all are")
    func patience() throws {
        let it = Case.parked
        var led = 0
        for _ in 0..<1000 {
            guard it.lead() != nil else { continue }
            led += 1
            _ = it.endLead(isDone: false)
            it.inbox.park()
        }
        #expect((1000 / 64...1000 / 64 + 7).contains(led))
        while true {
            guard it.lead() != nil else { continue }
            #expect(it.endLead(isDone: true) == .not)
            break
        }
        for _ in 0..<10 {
            _ = try #require(it.lead())
            #expect(it.endLead(isDone: true) == .not)
        }
    }
}
