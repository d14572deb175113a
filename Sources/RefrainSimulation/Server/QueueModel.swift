/// Workers that take requests from a bounded queue; service times are exponential, as in M/M/c.
///
/// A server cannot see that a client has left: it works on those requests as well, unless it is told to drop them. Its
/// capacity may change with time.
final class QueueModel: ServerModel {
    private let context: ServerContext
    private let rejections: DelayedAnswers
    private let workers: Int
    private let serviceTime: Double
    private let buffer: Int
    private let dropsAbandoned: Bool
    /// The share of the capacity that is there, by the time in seconds; nil: all of it, always.
    private let capacity: ((Double) -> Double)?
    private var queue: [ExchangeID] = []
    private var first = 0
    private var busy = 0
    private var target: Int32 = 0

    init(
        _ context: ServerContext,
        workers: Int,
        serviceTime: Double,
        buffer: Int,
        dropsAbandoned: Bool,
        capacity: ((Double) -> Double)? = nil
    ) {
        self.context = context
        self.workers = workers
        self.serviceTime = serviceTime
        self.buffer = buffer
        self.dropsAbandoned = dropsAbandoned
        self.capacity = capacity
        rejections = DelayedAnswers(context)
        target = context.loop.add(self)
    }

    func arrive(_ id: ExchangeID) {
        if busy < workers {
            serve(id)
        } else if queue.count - first < buffer {
            queue.append(id)
        } else {
            rejections.answer(id, after: 0.001, with: .status(503))
        }
    }

    func leave(_ id: ExchangeID) {}

    private func serve(_ id: ExchangeID) {
        busy += 1
        var seconds = context.chance.exponential(mean: serviceTime) * context.slowness()
        if let capacity {
            // A server without any capacity looks again ten times a second.
            let share = capacity(context.seconds)
            seconds = share > 0.001 ? seconds / share : 0.1
            if share <= 0.001 { waiting.insert(id) }
        }
        context.loop.schedule(at: context.time(after: seconds), target: target, value: id.index, serial: id.serial)
    }

    /// Requests at a worker that had no capacity when it took them.
    private var waiting: Set<ExchangeID> = []

    func handle(_ value: Int, serial: UInt32) {
        let id = ExchangeID(index: value, serial: serial)
        busy -= 1
        if waiting.remove(id) != nil { return serve(id) }
        context.answer(id, .status(200))
        while busy < workers, first < queue.count {
            let next = queue[first]
            first += 1
            if first > 1024, first * 2 > queue.count {
                queue.removeFirst(first)
                first = 0
            }
            if dropsAbandoned, !context.isWaiting(next) { continue }
            serve(next)
        }
    }
}
