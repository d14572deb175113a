// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("A concurrency that is found")
struct AdaptiveConcurrencyTests {
    /// A server that refuses what it has no room for, asked by as many requests as the limit lets through.
    private struct Server {
        var room: Int
        var concurrency: AdaptiveConcurrency
        var limit: Int
        private var now = 0.0
        private var ends: [(time: Double, isAccepted: Bool)] = []
        private(set) var refusals = 0
        private(set) var successes = 0
        private(set) var work = 0.0

        init(room: Int, maximum: Int) {
            (self.room, limit) = (room, maximum)
            concurrency = AdaptiveConcurrency(maximum: maximum)
        }

        /// Goes on until so many requests have ended; returns the share that was refused, and how much of the room was
        /// in use.
        mutating func run(_ count: Int, random: RandomSource) -> (refused: Double, used: Double) {
            let start = now
            (refusals, successes, work) = (0, 0, 0)
            while refusals + successes < count {
                while ends.count < limit {
                    let isAccepted = ends.count(where: \.isAccepted) < room
                    ends.append((now + (isAccepted ? 0.8 + 0.4 * random.unit() : 0.03), isAccepted))
                }
                guard let next = ends.indices.min(by: { ends[$0].time < ends[$1].time }) else { break }
                let end = ends.remove(at: next)
                now = end.time
                if end.isAccepted { (successes, work) = (successes + 1, work + 1) } else { refusals += 1 }
                let sign: AdaptiveConcurrency.Sign = end.isAccepted ? .success : .refusal
                if let new = concurrency.note(sign, underWay: ends.count + 1) { limit = new }
            }
            return (Double(refusals) / Double(count), work / (now - start) / Double(room))
        }
    }

    @Test("R34: what a server has room for is found and used, and few requests are refused", .computing)
    func room() {
        for seed in 0..<1_000 {
            let random = RandomSource(seed: UInt64(seed))
            let room = 1 + Int(random.unit() * 24)
            var server = Server(room: room, maximum: room + 1 + Int(random.unit() * 64))
            _ = server.run(300 + room * 40, random: random)
            let (refused, used) = server.run(room * 200, random: random)
            #expect(refused < 0.05 && used > 0.7, "seed \(seed), room for \(room): \(refused) refused, \(used) used")
        }
    }

    @Test("R34: where a server has room for one, one in fifty requests is refused at most")
    func one() {
        let random = RandomSource(seed: 1)
        var server = Server(room: 1, maximum: 32)
        _ = server.run(300, random: random)
        let (refused, used) = server.run(2_000, random: random)
        #expect(refused > 0 && refused <= 0.02 && used > 0.97, "\(refused) refused, \(used) used")
    }

    @Test("R34: room that comes back is used again")
    func recovery() {
        let random = RandomSource(seed: 2)
        var server = Server(room: 2, maximum: 32)
        _ = server.run(1_000, random: random)
        server.room = 32
        // From two to 32 one after the other are 500 successes, and the first is tried after 128 at most.
        _ = server.run(700, random: random)
        #expect(server.limit == 32 && server.concurrency.isFull)
    }
}
