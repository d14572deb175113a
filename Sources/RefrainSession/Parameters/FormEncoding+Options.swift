#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension URLEncoding.Form {
    /// A closure of the caller's as a setting; equal to its own copies only.
    public struct Custom<Closure: Sendable>: Hashable, Sendable {
        /// The closure.
        public let closure: Closure
        private let identity = Identity()

        private final class Identity: Sendable {}

        /// Wraps a closure.
        public init(_ closure: Closure) { self.closure = closure }

        /// Whether both are copies of one setting.
        public static func == (left: Custom, right: Custom) -> Bool { left.identity === right.identity }

        /// Hashes the identity of the setting.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
    }

    /// How keys are written, those of nested members as well.
    public enum KeyEncoding: Hashable, Sendable {
        /// As they are.
        case useDefaultKeys
        /// `oneTwoThree` as `one_two_three`; a run of capitals is one word.
        case convertToSnakeCase
        /// `oneTwoThree` as `one-two-three`; a run of capitals is one word.
        case convertToKebabCase
        /// With the first letter in upper case.
        case capitalized
        /// In upper case.
        case uppercased
        /// In lower case.
        case lowercased
        /// As a closure returns them.
        case transformed(Custom<@Sendable (String) -> String>)

        /// As a closure returns them.
        public static func custom(_ closure: @escaping @Sendable (String) -> String) -> KeyEncoding {
            .transformed(Custom(closure))
        }

        func text(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.words(of: key).joined(separator: "_")
            case .convertToKebabCase: Self.words(of: key).joined(separator: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
            case .transformed(let custom): custom.closure(key)
            }
        }

        /// The words of a key in lower case: `myURLProperty` has `my`, `url` and `property`.
        private static func words(of key: String) -> [String] {
            let letters = Array(key)
            var words: [String] = []
            var word = ""
            for (index, letter) in letters.enumerated() {
                let endsRun = index + 1 < letters.count && letters[index + 1].isLowercase
                let follows = index > 0 && (!letters[index - 1].isUppercase || endsRun)
                if letter.isUppercase, follows, !word.isEmpty {
                    words.append(word)
                    word = ""
                }
                word += letter.lowercased()
            }
            return word.isEmpty ? words : words + [word]
        }
    }

    /// How the key of a nested member follows that of its parent.
    public enum KeyPathEncoding: Hashable, Sendable {
        /// In brackets: `parent[child]`.
        case brackets
        /// After a dot: `parent.child`.
        case dots
        /// As a closure returns the child's part.
        case transformed(Custom<@Sendable (String) -> String>)

        /// The encoding of a closure, which returns the part of a child's key.
        public init(encoding closure: @escaping @Sendable (_ subkey: String) -> String) {
            self = .transformed(Custom(closure))
        }

        func text(_ subkey: String) -> String {
            switch self {
            case .brackets: "[\(subkey)]"
            case .dots: ".\(subkey)"
            case .transformed(let custom): custom.closure(subkey)
            }
        }
    }

    /// How a `Date` among `Encodable` values is written.
    public enum DateEncoding: Hashable, Sendable {
        /// As it encodes itself: in seconds since 2001.
        case deferredToDate
        /// In seconds since 1970.
        case secondsSince1970
        /// In milliseconds since 1970.
        case millisecondsSince1970
        /// As in `2026-01-31T12:00:00Z` (RFC 3339).
        case iso8601
        /// As a closure returns it.
        case transformed(Custom<@Sendable (Date) throws -> String>)

        /// As a closure returns it; its error fails the encoding.
        public static func custom(_ closure: @escaping @Sendable (Date) throws -> String) -> DateEncoding {
            .transformed(Custom(closure))
        }

        /// The text; nil means that the date encodes itself.
        func text(_ date: Date) throws -> String? {
            switch self {
            case .deferredToDate: nil
            case .secondsSince1970: "\(date.timeIntervalSince1970)"
            case .millisecondsSince1970: "\(date.timeIntervalSince1970 * 1000)"
            case .iso8601: date.formatted(.iso8601)
            case .transformed(let custom): try custom.closure(date)
            }
        }
    }

    /// How `Data` among `Encodable` values is written.
    public enum DataEncoding: Hashable, Sendable {
        /// As it encodes itself: a list of bytes.
        case deferredToData
        /// In base 64.
        case base64
        /// As a closure returns it.
        case transformed(Custom<@Sendable (Data) throws -> String>)

        /// As a closure returns it; its error fails the encoding.
        public static func custom(_ closure: @escaping @Sendable (Data) throws -> String) -> DataEncoding {
            .transformed(Custom(closure))
        }

        /// The text; nil means that the data encodes itself.
        func text(_ data: Data) throws -> String? {
            switch self {
            case .deferredToData: nil
            case .base64: data.base64EncodedString()
            case .transformed(let custom): try custom.closure(data)
            }
        }
    }
}
