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
    /// Where it stands, for messages: `urls.txt:3`.
    var place = "URL"

    /// Whether it is a line in JSON that says more than a URL.
    var isLine: Bool { method != nil || body != nil }

    init(url: String, place: String) {
        self.url = url
        self.place = place
    }
}
