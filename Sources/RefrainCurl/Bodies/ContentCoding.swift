internal import RefrainHTTP

/// What was done to a body for the way, as `Content-Encoding` says (RFC 9110 §8.4).
enum ContentCoding: Equatable {
    case none
    case gzip
    case deflate
    /// Others, or several, by the words of the field.
    case other(String)

    /// The value of `Accept-Encoding` that asks for those that are undone here.
    static let accepted = "gzip, deflate"

    /// Adds the value of a field to those before it.
    mutating func add(_ value: String) {
        for part in value.split(separator: ",") {
            let name = part.trimmingPrefix { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            // Some servers say none where they mean that there is no coding.
            guard !name.isEmpty, !["identity", "none"].contains(name.lowercased()) else { continue }
            self = self == .none ? Self(named: String(name)) : .other("\(self), \(name)")
        }
    }

    private init(named name: String) {
        self =
            switch name.lowercased() {
            case "gzip", "x-gzip": .gzip
            case "deflate": .deflate
            default: .other(name)
            }
    }
}

extension ContentCoding: CustomStringConvertible {
    var description: String {
        switch self {
        case .none: "identity"
        case .gzip: "gzip"
        case .deflate: "deflate"
        case .other(let names): names
        }
    }
}
