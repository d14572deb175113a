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
        /// When the requests that are under way end, the next one last.
        private var ends: [(time: Double, isAccepted: Bool)] = []
        private var acceptedCount = 0

        init(room: Int, maximum: Int) {
            (self.room, limit) = (room, maximum)
            concurrency = AdaptiveConcurrency(maximum: maximum)
        }

        /// Goes on until so many requests have ended; returns the share that was refused, and how much of the room was
        /// in use.
        mutating func run(_ count: Int, random: RandomSource) -> (refused: Double, used: Double) {
            let start = now
            var (refusals, successes) = (0, 0)
            while refusals + successes < count {
                while ends.count < limit { send(random) }
                guard let end = ends.popLast() else { break }
                now = end.time
                if end.isAccepted {
                    (successes, acceptedCount) = (successes + 1, acceptedCount - 1)
                } else {
                    refusals += 1
                }
                let sign: AdaptiveConcurrency.Sign = end.isAccepted ? .success : .refusal
                if let new = concurrency.note(sign, underWay: ends.count + 1) { limit = new }
            }
            return (Double(refusals) / Double(count), Double(successes) / (now - start) / Double(room))
        }

        private mutating func send(_ random: RandomSource) {
            let isAccepted = acceptedCount < room
            if isAccepted { acceptedCount += 1 }
            let end = now + (isAccepted ? 0.8 + 0.4 * random.unit() : 0.03)
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if ends[middle].time > end { low = middle + 1 } else { high = middle }
            }
            ends.insert((end, isAccepted), at: low)
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

    @Test("R31: any maximum is taken")
    func anyMaximum() {
        for maximum in [1, Int.max - 1, .max] {
            var concurrency = AdaptiveConcurrency(maximum: maximum)
            #expect(concurrency.note(.success, underWay: 1) == nil && concurrency.isFull)
            for _ in 0..<100 { _ = concurrency.note(.refusal, underWay: 1) }
            #expect(concurrency.isFull == (maximum == 1))
        }
    }
}
