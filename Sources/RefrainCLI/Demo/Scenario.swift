internal import Refrain
internal import RefrainTesting

/// One kind of fault, and what must become of a request that meets it.
struct Scenario: Sendable {
    /// What a request must come to.
    enum Ending: Sendable, Equatable {
        case status(HTTPStatus)
        case failure(HTTPError.Code)
    }

    let title: String
    /// The path and query at the server.
    let path: String
    var method: HTTPMethod = .get
    var body: HTTPBody = .empty
    /// A request to this path comes first, so that there is a connection to be reused.
    var before: String?
    /// Sets the options of the request.
    var prepare: @Sendable (inout HTTPRequest) -> Void = { _ in }
    let ending: Ending
    /// How many requests the server must have seen, those of redirects included.
    let sends: Int
    /// The reasons for which the request must have been repeated, in order, or nil where only their number counts.
    var reason: RetryReason?
    /// The shortest time that the request must take.
    var atLeast: Duration = .zero
    /// The size of the content that must have arrived, whole.
    var download: Int?
    /// Whether all copies must carry one and the same idempotency key.
    var sharesKey = false
    /// What the server does with connections, where it is not the common server.
    var mode: FaultServer.Mode = .normal
}
