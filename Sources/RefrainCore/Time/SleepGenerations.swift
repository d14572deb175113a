/// The sleepers of a stage, by generation: a reset ends the waits of all that began before it, and of nobody else.
///
/// Whoever begins something takes the present group, and waits in it for as long as that lasts. So one that is between
/// two waits while the reset comes does not get to its next one either.
package final class SleepGenerations: Sendable {
    private let present = Locked(SleepGroup())

    package init() {}

    /// The group of those who begin now.
    package var current: SleepGroup { present.withLock { $0 } }

    /// Ends all waits of those who have begun, those to come included.
    package func endAll() {
        let past = present.withLock { group in
            defer { group = SleepGroup() }
            return group
        }
        past.close()
    }
}
