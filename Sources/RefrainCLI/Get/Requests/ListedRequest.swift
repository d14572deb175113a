internal import Refrain

/// One request of a list or of the command line.
struct ListedRequest: Sendable {
    var url: String
    /// The method; nil: that of the command line.
    var method: String?
    /// The fields that stand beside those of the command line.
    var headers: [(name: String, value: String)] = []
    /// The body; nil: that of the command line.
    var body: HTTPBody?
    /// What tells the body from others.
    var bodyDigest = ""
    /// The file that it names, relative to the output folder.
    var output: String?
    /// The idempotency key that it names.
    var key: String?
    /// Where it stands.
    let place: Position

    /// Whether it is a line in JSON that says more than a URL.
    var isLine: Bool { method != nil || body != nil }

    /// Whether it asks for a part of a content.
    var asksForPart: Bool { headers.contains { HTTPHeaders.isSame($0.name, "Range") } }

    /// Whether it is its URL alone.
    var isBare: Bool {
        guard headers.isEmpty, case nil = body else { return false }
        return method == nil && output == nil && key == nil
    }

    init(url: String, place: Position) {
        self.url = url
        self.place = place
    }

    /// Where a request stands, as messages name it: a line of a list, or the command line.
    struct Position: Sendable, CustomStringConvertible {
        /// The list; nil: the command line.
        private let list: String?
        private let number: Int

        /// The command line.
        static let commandLine = Position(list: nil, number: 0)

        /// A line of a list, from 1.
        static func line(_ number: Int, of list: String) -> Position { Position(list: list, number: number) }

        /// `urls.txt:3`, or `URL`.
        var description: String { list.map { "\($0):\(number)" } ?? "URL" }
    }
}
