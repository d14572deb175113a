// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@testable import RefrainCurl

@Suite("The commands and the owner of a loop")
struct CommandQueueTests {
    /// A queue with reference semantics, because the expectation macros cannot mutate a value.
    private final class Case {
        var commands = CommandQueue()

        /// A queue whose thread has nothing to do.
        static var parked: Case {
            let it = Case()
            it.commands.park()
            return it
        }

        func add(_ command: Command) -> CommandQueue.Wake { commands.add(command) }
        func prepareToPoll() -> Bool { commands.prepareToPoll() }
        func lead() -> CommandQueue.Lead? { commands.lead() }
        func leaderWaits() -> Bool { commands.leaderWaits() }
        func leaderGoesOn(_ lead: CommandQueue.Lead) -> Bool { commands.leaderGoesOn(lead) }
        func endLead(isDone: Bool) -> CommandQueue.Wake { commands.endLead(isDone: isDone) }
        func endLead(with command: Command) -> CommandQueue.Wake { commands.endLead(with: command) }
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
        it.commands.park()
        #expect(it.commands.owner == .thread)
        #expect(it.lead() == nil)
    }

    @Test("one leads at a time; when it is done the next one may")
    func oneLeader() throws {
        let it = Case.parked
        _ = try #require(it.lead())
        #expect(it.lead() == nil)
        #expect(it.endLead(isDone: true) == .not)
        #expect(it.commands.owner == .none)
        #expect(it.lead() != nil)
    }

    @Test("R9: what a leader hands over comes before what was added meanwhile, which may cancel it")
    func order() throws {
        let it = Case.parked
        _ = try #require(it.lead())
        let transfer = Transfer(try HTTPRequest("http://127.0.0.1/"))
        #expect(it.add(.cancel(transfer)) == .not)
        #expect(it.endLead(with: .start(transfer)) == .fromWait)
        var commands: [Command] = []
        it.commands.take(into: &commands)
        guard commands.count == 2, case .start = commands[0], case .cancel = commands[1] else {
            Issue.record("the order is another one: \(commands)")
            return
        }
    }

    @Test("a command for a parked thread wakes it once")
    func command() {
        let it = Case.parked
        #expect(it.add(.stop(nil)) == .fromWait)
        #expect(it.add(.stop(nil)) == .not)
        #expect(it.commands.owner == .thread)
    }

    @Test("a command during a lead waits for the leader, who leaves it to the thread")
    func commandDuringLead() throws {
        let it = Case.parked
        _ = try #require(it.lead())
        #expect(it.add(.stop(nil)) == .not)
        #expect(!it.leaderWaits())
        #expect(it.commands.owner == .leader)
        #expect(it.endLead(isDone: true) == .fromWait)
        #expect(it.commands.owner == .thread)
    }

    @Test("a command while the leader waits gives ownership to the thread, and the leader does not get it back")
    func commandDuringWait() throws {
        let it = Case.parked
        let lead = try #require(it.lead())
        #expect(it.leaderWaits())
        #expect(it.add(.stop(nil)) == .fromWait)
        #expect(!it.leaderGoesOn(lead))
        #expect(it.commands.owner == .thread)
    }

    @Test("a leader that lost ownership does not take that of a later one")
    func laterLeader() throws {
        let it = Case.parked
        let first = try #require(it.lead())
        #expect(it.leaderWaits())
        _ = it.add(.stop(nil))
        var commands: [Command] = []
        it.commands.take(into: &commands)
        it.commands.park()
        // The next request is not led, because the last wait failed.
        #expect(it.lead() == nil)
        let second = try #require(it.lead())
        #expect(it.leaderWaits())
        #expect(!it.leaderGoesOn(first))
        #expect(it.commands.owner == .waitingLeader)
        #expect(it.leaderGoesOn(second))
    }

    @Test("what is not done at the end of a lead is the thread's")
    func handOver() throws {
        let it = Case.parked
        let lead = try #require(it.lead())
        #expect(it.leaderWaits())
        #expect(it.leaderGoesOn(lead))
        #expect(it.endLead(isDone: false) == .fromWait)
        #expect(it.commands.owner == .thread)
        let next = Case.parked
        _ = try #require(next.lead())
        #expect(next.endLead(with: .stop(nil)) == .fromWait)
        #expect(next.commands.hasCommands)
        #expect(next.commands.owner == .thread)
    }

    @Test("after failed waits fewer are led, at least one in 64; after a successful one, all are")
    func backoff() throws {
        let it = Case.parked
        var led = 0
        for _ in 0..<1000 {
            guard it.lead() != nil else { continue }
            led += 1
            _ = it.endLead(isDone: false)
            it.commands.park()
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
