// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import Testing

@Suite("The byte channel")
struct ByteChannelTests {
    /// Counts upwards, so that a byte that is lost, doubled or moved is seen.
    private struct Numbers {
        private var last: UInt8 = 0

        mutating func next(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in
                last &+= 1
                return last
            }
        }
    }

    /// How often the thread that reads was told of data.
    private final class Bell: Sendable {
        private let count = Locked(0)
        func ring() { count.withLock { $0 += 1 } }
        func take() -> Int {
            count.withLock { count in
                defer { count = 0 }
                return count
            }
        }
    }

    @Test("two threads: every byte comes once and in order, and a reader that found none is told once of more")
    func threads() {
        forEachSeed { random in
            let (channel, bell) = (ByteChannel(highWater: 100, lowWater: 30), Bell())
            channel.onData { bell.ring() }
            var (sent, expected) = (Numbers(), Numbers())
            var (held, left, isTold, isOver) = (0, Int.random(in: 0...600, using: &random), false, false)
            while true {
                if Bool.random(using: &random), !isOver {
                    guard channel.hasRoom == (held < 100) else { return false }
                    let piece = sent.next(min(left, Int.random(in: 1...60, using: &random)))
                    if left == 0 { channel.finish() }
                    if piece.withUnsafeBytes({ channel.append($0) }) { channel.wakeReader() }
                    (isOver, left, held) = (left == 0, left - piece.count, held + piece.count)
                    guard bell.take() == (isTold ? 1 : 0) else { return false }
                    isTold = false
                } else {
                    var bytes = [UInt8](repeating: 0, count: Int.random(in: 1...80, using: &random))
                    let count = bytes.withUnsafeMutableBytes { channel.read(into: $0) { $0.held } }
                    guard let count else {
                        isTold = true
                        guard held == 0, !isOver else { return false }
                        continue
                    }
                    if count == 0 { return isOver && held == 0 && channel.isDrained }
                    guard count == min(held, bytes.count), Array(bytes[..<count]) == expected.next(count) else {
                        return false
                    }
                    held -= count
                }
            }
        }
    }

    @Test("two tasks: every byte comes once and in order, with any limit")
    func tasks() async throws {
        for seed in UInt64(0)..<1000 {
            var random = RandomSource(seed: seed)
            let high = Int.random(in: 1...200, using: &random)
            let channel = ByteChannel(highWater: high, lowWater: Int.random(in: 0..<high, using: &random))
            var numbers = Numbers()
            let chunks = (0..<Int.random(in: 0...20, using: &random))
                .map { _ in numbers.next(Int.random(in: 1...50, using: &random)) }
            async let isTaken = {
                for chunk in chunks where !(await channel.send(chunk)) { return false }
                channel.finish()
                return true
            }()
            var read: [[UInt8]] = []
            while let chunk = try await channel.next() { read.append(chunk) }
            #expect(await isTaken && read == chunks, "seed \(seed)")
        }
    }

    @Test("a thread that writes is resumed when the low limit is reached, and only if it was told to stop")
    func resumption() throws {
        let channel = ByteChannel(highWater: 100, lowWater: 30)
        let resumed = Bell()
        // Chunks end at multiples of 64 KB: each of these is one of its own.
        for _ in 0..<4 { _ = [UInt8](repeating: 1, count: 64 << 10).withUnsafeBytes { channel.append($0) } }
        _ = try channel.ready { resumed.ring() }?.get()
        #expect(resumed.take() == 0)
        #expect(!channel.hasRoom)
        for expected in [0, 0, 1] {
            #expect(try channel.ready { resumed.ring() }?.get()?.count == 64 << 10)
            #expect(resumed.take() == expected)
        }
        #expect(channel.hasRoom)
    }

    @Test("what was held at the end is read before the error, which is the first one")
    func errorAfterBytes() async throws {
        let channel = ByteChannel()
        _ = [1, 2, 3].withUnsafeBytes { channel.append($0) }
        channel.finish(HTTPError(.networkConnectionLost, request: sampleRequest()))
        channel.finish(HTTPError(.timedOut, request: sampleRequest()))
        #expect(try await channel.next()?.count == 3 * MemoryLayout<Int>.size)
        let error = await #expect(throws: HTTPError.self) { try await channel.next() }
        #expect(error?.code == .networkConnectionLost)
    }

    /// A task that has written a byte to a channel without room for more: it waits once the reader was told.
    private func waitingWriter(of channel: ByteChannel) async -> Task<Bool, Never> {
        let (told, tell) = AsyncStream<Void>.makeStream()
        channel.onData { tell.finish() }
        var byte: UInt8 = 0
        #expect(withUnsafeMutableBytes(of: &byte) { channel.read(into: $0) { $0.held } } == nil)
        let writer = Task { await channel.send([1]) }
        for await _ in told {}
        return writer
    }

    @Test("a closed channel holds nothing, and sending to it returns false, also where it waits")
    func closing() async throws {
        let channel = ByteChannel(highWater: 1, lowWater: 0)
        let writer = await waitingWriter(of: channel)
        channel.close()
        #expect(await writer.value == false)
        #expect(await channel.send([2]) == false)
        channel.finish()
        #expect(try await channel.next() == nil)
        #expect(channel.isDrained)
    }

    @Test("a task that is cancelled while it waits for room goes on at once")
    func cancellation() async {
        let channel = ByteChannel(highWater: 1, lowWater: 0)
        let writer = await waitingWriter(of: channel)
        writer.cancel()
        #expect(await writer.value == false)
    }

    @Test("a limit that throws is thrown, and takes nothing")
    func throwingLimit() async throws {
        struct TooMany: Error {}
        let channel = ByteChannel()
        #expect(await channel.send([1, 2, 3]))
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(throws: TooMany.self) {
            try bytes.withUnsafeMutableBytes { try channel.read(into: $0) { _ in throw TooMany() } }
        }
        let count = bytes.withUnsafeMutableBytes { channel.read(into: $0) { $0.held - 1 } }
        #expect(count == 2 && bytes.prefix(3) == [1, 2, 0])
    }
}
