// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// A clock whose time is that of a simulation.
struct VirtualClock: Clock {
    struct Instant: InstantProtocol {
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset.addingSaturated(duration)) }
        func duration(to other: Instant) -> Duration { other.offset.subtractingSaturated(offset) }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let sleepers: VirtualSleepers

    var now: Instant { Instant(offset: .nanoseconds(sleepers.loop.now)) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        guard await sleepers.wait(until: deadline.offset.delayInNanoseconds) else { throw CancellationError() }
    }
}

/// The tasks that wait on a simulation's clock.
final class VirtualSleepers: EventTarget, @unchecked Sendable {
    // @unchecked Sendable: the table is touched only by the simulation's own thread, which `wait` asks for.
    let loop: SimulationLoop
    private var sleepers = SlotTable<UnsafeContinuation<Bool, Never>>()
    private var target: Int32 = 0

    /// The tasks that wait.
    var count: Int { sleepers.count }

    init(_ loop: SimulationLoop) {
        self.loop = loop
        target = loop.add(self)
    }

    /// Waits until a point of virtual time; false as soon as the task is cancelled.
    nonisolated(nonsending) func wait(until time: Int64) async -> Bool {
        guard loop.isCurrent else {
            loop.fail(.leftSimulation)
            return false
        }
        guard !Task.isCancelled else { return false }
        guard time > loop.now else { return true }
        // Written and read by the simulation's thread only.
        nonisolated(unsafe) var slot: (index: Int, serial: UInt32)?
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: false) }
                let inserted = sleepers.insert(continuation)
                slot = inserted
                loop.schedule(at: time, target: target, value: inserted.index, serial: inserted.serial)
            }
        } onCancel: {
            guard loop.isCurrent else { return loop.fail(.leftSimulation) }
            guard let slot else { return }
            sleepers.remove(slot.index, slot.serial)?.resume(returning: false)
        }
    }

    func handle(_ value: Int, serial: UInt32) {
        sleepers.remove(value, serial)?.resume(returning: true)
    }
}
