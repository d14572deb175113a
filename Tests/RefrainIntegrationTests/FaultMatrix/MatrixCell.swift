// SPDX-License-Identifier: Apache-2.0
/// What is asked for in a cell of the matrix.
enum RequestKind: String, CaseIterable, Sendable {
    case get = "GET"
    case put = "PUT"
    case upload
    case download
    case post = "POST"
    case keyedPost = "keyed POST"
    case oneShotPost = "one-shot POST"

    static let idempotent: [RequestKind] = [.get, .put, .upload, .download]

    /// The kinds that a word of the table stands for.
    static func named(_ word: String) -> [RequestKind]? {
        switch word {
        case "all": allCases
        case "idempotent": idempotent
        case "repeatable": idempotent + [.keyedPost]
        default: RequestKind(rawValue: word).map { [$0] }
        }
    }
}

/// What the request travels on.
enum ConnectionKind: String, CaseIterable, Sendable {
    /// The loader has made no request before.
    case new
    /// The loader's only connection has served a request before.
    case reused
}

/// What a cell is expected to end with; several values where a race on the wire decides, and the rules allow each.
struct Expectation: Sendable, Hashable {
    var outcomes: [String]
    /// The attempts on record.
    var attempts: ClosedRange<Int>
    /// The requests that the server reads; nil: as many as are on record (rule R3).
    var arrivals: ClosedRange<Int>?
    var reasons: [String]
    var rules: Set<String>
}

/// One fault, met by one kind of request on one kind of connection.
struct MatrixCell: Sendable {
    var fault: String
    var request: RequestKind
    var connection: ConnectionKind
    var expected: Expectation

    var name: String { "\(fault) · \(request.rawValue) · \(connection.rawValue)" }
}
