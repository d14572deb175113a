// SPDX-License-Identifier: Apache-2.0
internal import RefrainHTTP

/// The codings of a body, according to `Content-Encoding` (RFC 9110 §8.4).
enum ContentCoding: Equatable {
    case none
    case gzip
    case deflate
    /// Several of the above, in the order in which they were applied; they are decoded in reverse.
    case several([ContentCoding])
    /// A coding that cannot be decoded, as the field names it.
    case other(String)

    /// The maximum number of codings that are decoded of one body, as in libcurl; no sender needs that many.
    static let maximumCount = 5

    /// The value of `Accept-Encoding` that names the codings that can be decoded.
    static let accepted = "gzip, deflate"

    /// Adds the codings of a field's value to those before.
    mutating func add(_ value: String) {
        for part in value.split(separator: ",") {
            let name = part.trimmingPrefix { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            // Some servers send "none" for no coding.
            guard !name.isEmpty, !["identity", "none"].contains(name.lowercased()) else { continue }
            self = layers.isEmpty ? Self(named: String(name)) : followed(by: Self(named: String(name)))
        }
    }

    /// The single codings, in the order in which they were applied.
    var layers: [ContentCoding] {
        switch self {
        case .none: []
        case .several(let layers): layers
        default: [self]
        }
    }

    private func followed(by next: ContentCoding) -> ContentCoding {
        let all = layers + [next]
        let canBeUndone = all.count <= Self.maximumCount && all.allSatisfy { $0 == .gzip || $0 == .deflate }
        return canBeUndone ? .several(all) : .other("\(self), \(next)")
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
        case .several(let layers): layers.map(\.description).joined(separator: ", ")
        case .other(let names): names
        }
    }
}
