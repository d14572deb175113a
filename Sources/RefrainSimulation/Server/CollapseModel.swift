/// A server whose latency grows with the requests that it works on at the same time.
///
/// It does not detect that a client has left, and completes such a request, unless `dropsAbandoned` is set.
final class CollapseModel: ServerModel {
    private let context: ServerContext
    private let latency: Double
    private let latencyPerRequest: Double
    private let dropsAbandoned: Bool
    private var working = SlotTable<ExchangeID>()
    /// The slots of the requests that are dropped when their client leaves.
    private var slots: [ExchangeID: (index: Int, serial: UInt32)] = [:]
    private var target: Int32 = 0

    init(_ context: ServerContext, latency: Double, latencyPerRequest: Double, dropsAbandoned: Bool) {
        self.context = context
        self.latency = latency
        self.latencyPerRequest = latencyPerRequest
        self.dropsAbandoned = dropsAbandoned
        target = context.loop.add(self)
    }

    func arrive(_ id: ExchangeID) {
        let seconds = (latency + latencyPerRequest * Double(working.count)) * context.slowness()
        let slot = working.insert(id)
        if dropsAbandoned { slots[id] = slot }
        context.loop.schedule(at: context.time(after: seconds), target: target, value: slot.index, serial: slot.serial)
    }

    func leave(_ id: ExchangeID) {
        guard dropsAbandoned, let slot = slots.removeValue(forKey: id) else { return }
        _ = working.remove(slot.index, slot.serial)
    }

    func handle(_ value: Int, serial: UInt32) {
        guard let id = working.remove(value, serial) else { return }
        if dropsAbandoned { slots[id] = nil }
        context.answer(id, .status(200))
    }
}
