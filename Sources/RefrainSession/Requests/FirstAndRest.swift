/// A list of which nearly every request has one entry or none: that one needs no array.
struct FirstAndRest<Element>: Sequence {
    private(set) var first: Element?
    private var rest: [Element] = []

    var isEmpty: Bool { first == nil }
    var last: Element? { rest.last ?? first }
    /// All entries, in order.
    var all: [Element] { first.map { [$0] + rest } ?? [] }

    mutating func append(_ element: Element) {
        if first == nil { first = element } else { rest.append(element) }
    }

    struct Iterator: IteratorProtocol {
        fileprivate var first: Element?
        fileprivate var rest: ArraySlice<Element>

        mutating func next() -> Element? { first.take() ?? rest.popFirst() }
    }

    func makeIterator() -> Iterator { Iterator(first: first, rest: rest[...]) }
}
