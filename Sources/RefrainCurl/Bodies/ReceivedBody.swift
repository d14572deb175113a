// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The body of a response while it is collected.
///
/// A small one is collected in a `Data`, a large one in a block of ``BodyBlocks``, which becomes the storage of the
/// `Data` at the end: its bytes are copied once, as they arrive.
struct ReceivedBody {
    private var small = Data()
    private var large: BodyBlock?

    /// From about this size on, with many bodies at a time, glibc returns freed memory to the kernel, and the next body
    /// has a page fault for each page.
    private static let largeSize = 32 << 10
    /// The maximum that is reserved because of the announced length; a longer body grows.
    private static let maximumReservation: Int64 = 64 << 20

    var isEmpty: Bool { large == nil && small.isEmpty }

    /// Reserves memory for a body of this length; its pages are used only as bytes arrive.
    mutating func reserve(_ length: Int64) {
        let size = Int(min(length, Self.maximumReservation))
        if size < Self.largeSize { small.reserveCapacity(size) } else { large = BodyBlock(capacity: size) }
    }

    /// Adds bytes; returns false if there is no memory for them.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return true }
        if let large { return large.append(start, bytes.count) }
        if small.count + bytes.count < Self.largeSize {
            // By its address: as a sequence it would be copied byte by byte.
            small.append(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
            return true
        }
        guard let block = BodyBlock(capacity: 2 * (small.count + bytes.count)) else { return false }
        large = block
        let isKept = small.withUnsafeBytes { $0.baseAddress.map { block.append($0, small.count) } ?? true }
        small = Data()
        return isKept && block.append(start, bytes.count)
    }

    /// The bytes so far.
    var bytes: Data { large?.copy() ?? small }

    /// Removes and returns the bytes.
    mutating func take() -> Data {
        defer { self = ReceivedBody() }
        return large?.release() ?? small
    }
}

/// A block of memory that grows without a copy where the system can move pages.
private final class BodyBlock {
    private var block: BodyBlocks.Block
    private var count = 0
    private var isReleased = false

    init?(capacity: Int) {
        guard let block = BodyBlocks.shared.take(capacity) else { return nil }
        self.block = block
    }

    deinit { if !isReleased { BodyBlocks.shared.put(block) } }

    func append(_ start: UnsafeRawPointer, _ added: Int) -> Bool {
        if added > block.capacity - count {
            let capacity = max(2 * block.capacity, count + added)
            guard let address = realloc(block.address, capacity) else { return false }
            block = BodyBlocks.Block(address: address, capacity: capacity)
        }
        (block.address + count).copyMemory(from: start, byteCount: added)
        count += added
        return true
    }

    func copy() -> Data { Data(bytes: block.address, count: count) }

    /// Returns the bytes without a copy; the block returns to the pool with the last reference to them.
    func release() -> Data {
        isReleased = true
        return Data(
            bytesNoCopy: block.address,
            count: count,
            deallocator: .custom { [block] _, _ in BodyBlocks.shared.put(block) }
        )
    }
}

/// The free blocks for large bodies, of all loaders of the process: at most 16 MB, for some seconds.
///
/// A block that was used before has its pages. Without the pool page faults take most of the time of a body of 1 MB.
final class BodyBlocks: Sendable {
    static let shared = BodyBlocks()

    /// Memory of malloc's.
    struct Block: @unchecked Sendable {
        // @unchecked Sendable: the block has one user at a time.
        let address: UnsafeMutableRawPointer
        let capacity: Int
    }

    private struct State {
        /// The free blocks, and when they were last used; the newest is last.
        var free: [(block: Block, since: MonotonicTime)] = []
        var size = 0
    }

    private let state = Locked(State())

    private static let maximumSize = 16 << 20
    private static let maximumCount = 64
    /// How long a block stays unused, in nanoseconds.
    static let longestIdle: Int64 = 5_000_000_000

    /// Whether there are free blocks.
    var isEmpty: Bool { state.withLock { $0.free.isEmpty } }

    /// Returns a block of at least this capacity; nil without memory.
    func take(_ capacity: Int) -> Block? {
        let found = state.withLock { state -> Block? in
            // One of up to twice the size.
            guard let index = state.free.lastIndex(where: { (capacity...2 * capacity).contains($0.block.capacity) })
            else { return nil }
            let block = state.free.remove(at: index).block
            state.size -= block.capacity
            return block
        }
        if let found { return found }
        // In steps, so that similar bodies share blocks.
        let step = capacity < 256 << 10 ? 16 << 10 : 64 << 10
        let rounded = (capacity + step - 1) / step * step
        return malloc(rounded).map { Block(address: $0, capacity: rounded) }
    }

    /// Takes a block back.
    func put(_ block: Block) {
        let now = MonotonicTime.now
        let superfluous = state.withLock { state -> [Block] in
            guard block.capacity <= Self.maximumSize else { return [block] }
            state.free.append((block, now))
            state.size += block.capacity
            return Self.removeOldest(&state) { state in
                state.size > Self.maximumSize || state.free.count > Self.maximumCount
                    || state.free.first.map { now &- $0.since >= Self.longestIdle } ?? false
            }
        }
        for block in superfluous { free(block.address) }
    }

    /// Returns the blocks to the system that were not used for some seconds.
    func releaseUnused(now: MonotonicTime) {
        let unused = state.withLock { state in
            Self.removeOldest(&state) { state in
                state.free.first.map { now &- $0.since >= Self.longestIdle } ?? false
            }
        }
        for block in unused { free(block.address) }
    }

    private static func removeOldest(_ state: inout State, while condition: (State) -> Bool) -> [Block] {
        var removed: [Block] = []
        while !state.free.isEmpty, condition(state) {
            let block = state.free.removeFirst().block
            state.size -= block.capacity
            removed.append(block)
        }
        return removed
    }
}
