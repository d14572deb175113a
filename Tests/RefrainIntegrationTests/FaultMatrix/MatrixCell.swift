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
    var arrivals: Int?
    var reasons: [String]
    var rules: Set<String>
}

/// One fault, met by one kind of request on one kind of connection.
struct MatrixCell: Sendable {
    var fault: String
    var request: RequestKind
    var connection: ConnectionKind
    var expected: Expectation

    /// Whether the transport is known to miss this expectation; see ``KnownDeviations``.
    var isKnownToDeviate: Bool { KnownDeviations.faults.contains(fault) && request != .download }

    var name: String { "\(fault) · \(request.rawValue) · \(connection.rawValue)" }
}

/// What the rules ask for and the transport does not do.
enum KnownDeviations {
    static let faults: Set<String> = ["/bad-gzip?kind=cut"]

    static let note = """
        A gzip body that ends too early, although all the bytes that `Content-Length` promised have come, passes for a
        whole one with libcurl 7.88: it does not say whether the coded stream had come to its end. The rows show what
        rule R10 asks for; for this fault the test expects the deviation.
        """
}
