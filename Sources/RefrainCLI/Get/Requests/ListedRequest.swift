// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// One request of a list or of the command line.
struct ListedRequest: Sendable {
    let url: String
    /// The other members; nil: none, as in most lines of a long list, which then take 48 bytes instead of 190.
    private let details: Details?
    /// Its position, for messages.
    let position: Position

    /// The members of a line in JSON besides its URL, by reference.
    final class Details: Sendable {
        let members: Members
        init(_ members: Members) { self.members = members }
    }

    /// The members of a line in JSON besides its URL.
    struct Members: Sendable {
        /// The method; nil: that of the command line.
        var method: String?
        /// The fields besides those of the command line.
        var headers: [(name: String, value: String)] = []
        /// The body; nil: that of the command line.
        var body: HTTPBody?
        /// The identity of the body, or a digest of it.
        var bodyDigest = ""
        /// The file that it names, relative to the output folder.
        var output: String?
        /// The idempotency key that it names.
        var key: String?
    }

    var method: String? { details?.members.method }
    var headers: [(name: String, value: String)] { details?.members.headers ?? [] }
    var body: HTTPBody? { details?.members.body }
    var bodyDigest: String { details?.members.bodyDigest ?? "" }
    var output: String? { details?.members.output }
    var key: String? { details?.members.key }

    /// Whether it is a line in JSON with a method or a body.
    var isLine: Bool { method != nil || body != nil }

    /// Whether it asks for a part of a body.
    var asksForPart: Bool { headers.contains { HTTPHeaders.isSame($0.name, "Range") } }

    /// Whether it is only a URL.
    var isBare: Bool { details == nil }

    init(url: String, _ members: Members? = nil, position: Position) {
        self.url = url
        details = members.map(Details.init)
        self.position = position
    }

    /// The position of a request, for messages: a line of a list, or the command line.
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
