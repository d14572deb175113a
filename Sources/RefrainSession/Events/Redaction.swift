#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension LogMonitor {
    /// The header fields and query parameters whose values are not logged.
    public struct Redaction: Hashable, Sendable {
        /// The header fields to redact, in lower case.
        public let headers: Set<String>
        /// The query parameters to redact.
        public let queryParameters: Set<String>

        /// Redacts the fields of `PrintLoader.secretFields`, and no query parameters.
        public static let standard = Redaction()

        /// Redacts the fields of `PrintLoader.secretFields`, such as credentials and cookies, and the given ones.
        public init(headers: Set<String> = [], queryParameters: Set<String> = []) {
            self.headers = Set(PrintLoader.secretFields.union(headers).map { $0.lowercased() })
            self.queryParameters = queryParameters
        }

        /// The URL as text, without user information and the values of redacted parameters.
        public func text(of url: URL) -> String {
            guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "(a URL)" }
            parts.user = nil
            parts.password = nil
            if let query = parts.percentEncodedQuery, !queryParameters.isEmpty {
                let pairs = query.split(separator: "&", omittingEmptySubsequences: false)
                parts.percentEncodedQuery = pairs.map(redacted).joined(separator: "&")
            }
            return parts.string ?? "(a URL)"
        }

        /// The fields on one line, without redacted values and without the user information of URLs in other values.
        public func text(of fields: HTTPHeaders, hiding further: Set<String> = []) -> String {
            let hidden = headers.union(further.map { $0.lowercased() })
            return fields.map { field in
                let isHidden = hidden.contains(field.name.lowercased())
                let value = isHidden ? Self.mark : URLText.withoutUserinfo(in: field.value)
                // One event is one line, even if a value contains line breaks.
                return "\(field.name): \(String(value.map { $0.isNewline ? " " : $0 }))"
            }.joined(separator: ", ")
        }

        private func redacted(_ pair: Substring) -> String {
            let name = pair.prefix { $0 != "=" }
            guard name.count < pair.count, queryParameters.contains(Self.decoded(name)) else { return String(pair) }
            return "\(name)=\(Self.mark)"
        }

        /// The name with its percent escapes decoded; invalid escapes are kept.
        private static func decoded(_ name: Substring) -> String {
            var bytes: [UInt8] = []
            var rest = Array(name.utf8)[...]
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "%"), rest.count >= 2,
                    let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                {
                    bytes.append(value)
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        private static let mark = "***"
    }
}
