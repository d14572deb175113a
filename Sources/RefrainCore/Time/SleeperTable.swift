/// Stands for one sleeper, and for no other one ever after.
@usableFromInline
struct SleeperTicket {
    fileprivate let place: Int
    fileprivate let serial: UInt64
}

/// All who wait for their time, and what wakes each of them.
///
/// One that leaves early is taken off its place at once, and its alarm stays in the heap until it is due: to find it
/// there would cost more than all the rest of a cancellation. Where such alarms are more than those that still wake
/// somebody, all of them are taken out in one go. The table keeps the memory of the most that ever slept at a time
/// until nobody sleeps.
struct SleeperTable<Waker> {
    private struct Place {
        /// Nil as soon as the sleeper has left; the place is given anew when its alarm is gone, too.
        var waker: Waker?
        /// The group, which the sleeper keeps: to be counted among its owners costs more than all the rest here.
        var group: ObjectIdentifier?
        var serial: UInt64
    }

    private var heap = SleeperHeap()
    private var places: [Place] = []
    private var freePlaces: [Int] = []
    private var nextSerial: UInt64 = 0

    /// How many sleep.
    private(set) var count = 0

    /// How many alarms lie in the heap, those of sleepers that have left included.
    var alarmCount: Int { heap.count }

    /// When the earliest alarm is due, which may be one that wakes nobody any more.
    var nextDue: Int64? { heap.first?.due }

    /// Takes in a sleeper; the group has to last as long as it sleeps.
    mutating func insert(_ waker: Waker, due: Int64, group: SleepGroup?) -> SleeperTicket {
        let place = Place(waker: waker, group: group.map { ObjectIdentifier($0) }, serial: nextSerial)
        let index: Int
        if let free = freePlaces.popLast() {
            index = free
            places[free] = place
        } else {
            index = places.count
            places.append(place)
        }
        heap.insert(Alarm(due: due, place: index))
        count += 1
        nextSerial &+= 1
        return SleeperTicket(place: index, serial: place.serial)
    }

    /// Takes out a sleeper before its time; nil where it has left already.
    mutating func remove(_ ticket: SleeperTicket) -> Waker? {
        guard ticket.place < places.count, places[ticket.place].serial == ticket.serial else { return nil }
        let waker = takeWaker(from: ticket.place)
        tidy()
        return waker
    }

    /// Takes out all sleepers of a group.
    mutating func removeAll(in group: SleepGroup) -> [Waker] {
        let identity = ObjectIdentifier(group)
        let wakers = places.indices.compactMap { places[$0].group == identity ? takeWaker(from: $0) : nil }
        tidy()
        return wakers
    }

    /// Takes out one sleeper whose alarm is due.
    mutating func removeFirst(dueBy now: Int64) -> Waker? {
        while let alarm = heap.first, alarm.due <= now {
            heap.removeFirst()
            let waker = takeWaker(from: alarm.place)
            freePlaces.append(alarm.place)
            if let waker { return waker }
        }
        tidy()
        return nil
    }

    private mutating func takeWaker(from place: Int) -> Waker? {
        guard let waker = places[place].waker.take() else { return nil }
        count -= 1
        return waker
    }

    /// Takes the alarms out that wake nobody, where they are the most, and gives back what a crowd that is gone took.
    private mutating func tidy() {
        if heap.count > 64, heap.count > 2 * count {
            heap.removeAll { alarm in
                guard places[alarm.place].waker == nil else { return false }
                freePlaces.append(alarm.place)
                return true
            }
        }
        guard heap.count == 0, places.count > 4096 else { return }
        places = []
        freePlaces = []
        heap = SleeperHeap()
    }
}
