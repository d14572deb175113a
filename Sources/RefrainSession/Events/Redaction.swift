// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension LogMonitor {
    /// The header fields and query parameters whose values are not logged.
    ///
    /// Those whose names tell that they are secrets never are: names with a word such as token, key, secret, auth,
    /// session, password or signature.
    public struct Redaction: Hashable, Sendable {
        /// The further header fields to redact, in lower case.
        public let headers: Set<String>
        /// The further query parameters to redact; nil: all.
        public let queryParameters: Set<String>?

        /// Redacts the fields that are secrets, and the values of all query parameters.
        public static let standard = Redaction()

        /// Redacts the fields and parameters that are secrets, and the given ones.
        ///
        /// - Parameters:
        ///   - headers: further header fields. Defaults to those of `PrintLoader.secretFields` alone.
        ///   - queryParameters: further query parameters. Defaults to nil: all, because searches, addresses and names
        ///     do not belong into a log either. With a set the values of all others are logged.
        public init(headers: Set<String> = [], queryParameters: Set<String>? = nil) {
            self.headers = Set(PrintLoader.secretFields.union(headers).map { $0.lowercased() })
            self.queryParameters = queryParameters
        }

        /// The URL as text, without user information and the values of redacted parameters.
        public func text(of url: URL) -> String {
            let names = queryParameters.map { Set($0.map { $0.lowercased() }) }
            let text = URLText.redacted(url) { name in
                guard let names else { return true }
                return names.contains(SecretNames.decoded(name).lowercased()) || SecretNames.contains(parameter: name)
            }
            return PrintableText.line(text)
        }

        /// The fields on one line, without redacted values and without the user information of URLs in other values.
        public func text(of fields: HTTPHeaders, hiding further: Set<String> = []) -> String {
            let hidden = headers.union(further.map { $0.lowercased() })
            let text = fields.map { field in
                let isHidden = hidden.contains(field.name.lowercased()) || SecretNames.contains(field: field.name)
                return "\(field.name): \(isHidden ? URLText.hiddenValue : URLText.withoutUserinfo(in: field.value))"
            }
            return PrintableText.line(text.joined(separator: ", "))
        }
    }
}
