import Testing

@testable import RefrainCore

@Suite("SleeperTable")
struct SleeperTableTests {
    private struct Sleeper {
        let name: Int
        let due: Int64
        let group: SleepGroup?
        let ticket: SleeperTicket
    }

    @Test("it agrees with a plain list over 10,000 random operations: each is woken once, in order of time")
    func againstModel() {
        var random = RandomSource(seed: 0x7AB1E)
        var table = SleeperTable<Int>()
        var asleep: [Sleeper] = []
        var gone: [Sleeper] = []
        let groups: [SleepGroup?] = (0..<4).map { _ in SleepGroup() } + [nil]
        var now: Int64 = 0
        var name = 0
        for step in 0..<10_000 {
            switch Int.random(in: 0...19, using: &random) {
            case 0...9:
                let due = now + Int64.random(in: -5...400, using: &random)
                let group = groups.randomElement(using: &random) ?? nil
                asleep.append(
                    Sleeper(name: name, due: due, group: group, ticket: table.insert(name, due: due, group: group))
                )
                name += 1
            case 10...14:
                // A crowd leaves now and then, so that alarms without sleepers are tidied away.
                for _ in 0..<(step.isMultiple(of: 50) ? 200 : 1) {
                    guard let index = asleep.indices.randomElement(using: &random) else { break }
                    let sleeper = asleep.remove(at: index)
                    #expect(table.remove(sleeper.ticket) == sleeper.name)
                    gone.append(sleeper)
                }
            case 15...16:
                // Whoever has left once is not there any more, whoever has its place by then.
                guard let sleeper = gone.randomElement(using: &random) else { break }
                #expect(table.remove(sleeper.ticket) == nil)
            case 17...18:
                now += Int64.random(in: 0...60, using: &random)
                var last = Int64.min
                while let woken = table.removeFirst(dueBy: now) {
                    guard let index = asleep.firstIndex(where: { $0.name == woken }) else {
                        Issue.record("\(woken) is woken and does not sleep, at step \(step)")
                        return
                    }
                    let sleeper = asleep.remove(at: index)
                    #expect(sleeper.due <= now && sleeper.due >= last)
                    last = sleeper.due
                    gone.append(sleeper)
                }
                #expect(!asleep.contains { $0.due <= now })
            default:
                guard step.isMultiple(of: 3), let group = groups.randomElement(using: &random) ?? nil else { break }
                let leaving = asleep.filter { $0.group === group }
                #expect(table.removeAll(in: group).sorted() == leaving.map(\.name).sorted())
                gone += leaving
                asleep.removeAll { $0.group === group }
            }
            guard table.count == asleep.count, table.alarmCount - table.count <= max(64, table.count) else {
                Issue.record("the table differs from the list at step \(step)")
                return
            }
            // An alarm of one that has left may be earlier; nobody's may be missing.
            if let earliest = asleep.map(\.due).min() { #expect(table.nextDue.map { $0 <= earliest } == true) }
        }
    }

    @Test("where nearly all of a crowd leave early, their alarms go with them, and the rest wake in order")
    func massCancellation() {
        var table = SleeperTable<Int>()
        let tickets = (0..<100_000).map { table.insert($0, due: Int64(1_000_000 - $0), group: nil) }
        for (name, ticket) in tickets.enumerated() where !name.isMultiple(of: 1000) {
            #expect(table.remove(ticket) == name)
            #expect(table.alarmCount - table.count <= max(64, table.count))
        }
        #expect(table.count == 100)
        var woken: [Int] = []
        while let name = table.removeFirst(dueBy: .max) { woken.append(name) }
        #expect(woken == stride(from: 99_000, through: 0, by: -1000).map { $0 })
        #expect(table.alarmCount == 0 && table.nextDue == nil)
        // None of the old tickets is worth anything, also for those who have the places now.
        let next = (0..<10).map { table.insert($0, due: 1, group: nil) }
        for ticket in tickets { #expect(table.remove(ticket) == nil) }
        #expect(next.compactMap { table.remove($0) } == Array(0..<10))
    }

    @Test("an empty table wakes nobody")
    func empty() {
        var table = SleeperTable<Int>()
        #expect(table.nextDue == nil)
        #expect(table.removeFirst(dueBy: .max) == nil)
        #expect(table.removeAll(in: SleepGroup()).isEmpty)
    }
}
