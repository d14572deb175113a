// SPDX-License-Identifier: Apache-2.0
/// Values at reused indices; a serial number distinguishes a value from earlier ones of its index.
struct SlotTable<Value> {
    private var values: [Value?] = []
    private var serials: [UInt32] = []
    private var free: [Int] = []

    var count: Int { values.count - free.count }

    /// Stores a value; returns its index and serial number.
    mutating func insert(_ value: Value) -> (index: Int, serial: UInt32) {
        if let index = free.popLast() {
            values[index] = value
            return (index, serials[index])
        }
        values.append(value)
        serials.append(0)
        return (values.count - 1, 0)
    }

    /// Takes a value out; nil where it has been taken out already.
    mutating func remove(_ index: Int, _ serial: UInt32) -> Value? {
        guard serials[index] == serial, let value = values[index].take() else { return nil }
        serials[index] &+= 1
        free.append(index)
        return value
    }

    func contains(_ index: Int, _ serial: UInt32) -> Bool { serials[index] == serial && values[index] != nil }

    /// Changes a value in its place; does nothing where it has been taken out.
    mutating func update(_ index: Int, _ serial: UInt32, _ change: (inout Value) -> Void) {
        guard serials[index] == serial, var value = values[index].take() else { return }
        change(&value)
        values[index] = value
    }

    /// Calls `body` with each value, by its index.
    func forEach(_ body: (Value) -> Void) {
        for value in values { if let value { body(value) } }
    }
}
