/// A list of which nearly every request has one entry or none: that one needs no array.
struct TinyArray<Element>: Sequence {
    private(set) var first: Element?
    private var rest: [Element] = []

    var isEmpty: Bool { first == nil }
    var isSingle: Bool { first != nil && rest.isEmpty }
    var last: Element? { rest.isEmpty ? first : rest[rest.count - 1] }
    /// All entries, in order.
    var all: [Element] { first.map { [$0] + rest } ?? [] }

    mutating func append(_ element: Element) {
        if first == nil { first = element } else { rest.append(element) }
    }

    /// Takes the first entry out.
    mutating func popFirst() -> Element? {
        defer { first = rest.isEmpty ? nil : rest.removeFirst() }
        return first
    }

    /// The first non-nil result for the elements in order.
    func firstAnswer<Answer>(_ ask: (Element) -> Answer?) -> Answer? {
        guard let first else { return nil }
        if let answer = ask(first) { return answer }
        for element in rest {
            if let answer = ask(element) { return answer }
        }
        return nil
    }

    /// Calls `body` with each entry, in order.
    func forEach(_ body: (Element) -> Void) {
        guard let first else { return }
        body(first)
        for element in rest { body(element) }
    }

    struct Iterator: IteratorProtocol {
        fileprivate var first: Element?
        fileprivate var rest: ArraySlice<Element>

        mutating func next() -> Element? { first.take() ?? rest.popFirst() }
    }

    func makeIterator() -> Iterator { Iterator(first: first, rest: rest[...]) }
}
