/// Rounds in which a credential is obtained, of which at most one goes on, whoever asks for it.
///
/// Each has a number, so that the end of one that was overtaken changes nothing.
package struct Rounds: Sendable {
    /// The number of the round that goes on; nil: there is none.
    package private(set) var current: Int?
    private var last = 0

    package init() {}

    /// Begins a round in place of any other, and answers its number.
    package mutating func begin() -> Int {
        last += 1
        current = last
        return last
    }

    /// A round has ended; answers whether it was the one that goes on.
    package mutating func end(_ number: Int) -> Bool {
        guard current == number else { return false }
        current = nil
        return true
    }

    /// The round that goes on counts no more.
    package mutating func abandon() { current = nil }
}
