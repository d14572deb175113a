// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension URLEncoding {
    /// Encodes parameters as `application/x-www-form-urlencoded`, with nested keys in brackets.
    ///
    /// Keys are sorted, so that equal parameters give equal text, which caches and signatures depend on.
    public struct Form: Hashable, Sendable {
        /// The format of the keys of list elements.
        public enum ArrayEncoding: Hashable, Sendable {
            /// `key[]`, the default.
            case brackets
            /// `key`.
            case noBrackets
            /// `key[0]`.
            case indexInBrackets
            /// As a closure returns it for the key and an element's index.
            case transformed(Custom<@Sendable (_ key: String, _ index: Int) -> String>)

            /// As a closure returns it for the key and an element's index.
            public static func custom(
                _ closure: @escaping @Sendable (_ key: String, _ index: Int) -> String
            ) -> ArrayEncoding { .transformed(Custom(closure)) }
        }

        /// The format of booleans.
        public enum BoolEncoding: Hashable, Sendable {
            /// `1` and `0`, the default.
            case numeric
            /// `true` and `false`.
            case literal
        }

        /// The format of null values.
        public enum NilEncoding: Hashable, Sendable {
            /// Neither key nor value, the default.
            case dropKey
            /// `key=`.
            case dropValue
            /// `key=null`.
            case null
        }

        /// The format of spaces.
        public enum SpaceEncoding: Hashable, Sendable {
            /// `%20`, the default.
            case percentEscaped
            /// `+`.
            case plusReplaced
        }

        /// The format of the keys of list elements.
        public var arrays: ArrayEncoding
        /// The format of booleans.
        public var bools: BoolEncoding
        /// The format of null values.
        public var nils: NilEncoding
        /// The format of spaces.
        public var spaces: SpaceEncoding
        /// How keys are written.
        public var keys: KeyEncoding
        /// How the key of a nested member follows that of its parent.
        public var keyPaths: KeyPathEncoding
        /// How a `Date` among `Encodable` values is written.
        public var dates: DateEncoding
        /// How `Data` among `Encodable` values is written.
        public var data: DataEncoding
        /// Whether members and the elements of a list are sorted by their text, and the members of a superclass stand
        /// beside those of its subclass, as Alamofire's encoder of `Encodable` values has them.
        package var followsAlamofire = false

        /// Makes an encoding.
        public init(
            arrays: ArrayEncoding = .brackets,
            bools: BoolEncoding = .numeric,
            nils: NilEncoding = .dropKey,
            spaces: SpaceEncoding = .percentEscaped,
            keys: KeyEncoding = .useDefaultKeys,
            keyPaths: KeyPathEncoding = .brackets,
            dates: DateEncoding = .deferredToDate,
            data: DataEncoding = .base64
        ) {
            self.arrays = arrays
            self.bools = bools
            self.nils = nils
            self.spaces = spaces
            self.keys = keys
            self.keyPaths = keyPaths
            self.dates = dates
            self.data = data
        }

        /// Returns the encoded parameters.
        public func text(of parameters: Parameters) -> String { text(of: parameters) { keys.text($0) } }

        private func text(of members: Parameters, key: (String) -> String) -> String {
            joined(members.sorted { $0.key < $1.key }.map { name, value in text(of: value, key: key(name)) })
        }

        private func text(of value: JSONEncoding.Value, key: String) -> String {
            switch value {
            case .dictionary(let members): text(of: members) { key + keyPaths.text(keys.text($0)) }
            case .array(let elements): joined(elements.enumerated().map { text(of: $1, key: elementKey(key, $0)) })
            case .string(let text): "\(escaped(key))=\(escaped(text))"
            case .int(let number): "\(escaped(key))=\(number)"
            case .double(let number): "\(escaped(key))=\(escaped("\(number)"))"
            case .bool(let flag): "\(escaped(key))=\(bools == .numeric ? (flag ? "1" : "0") : "\(flag)")"
            case .null:
                switch nils {
                case .dropKey: ""
                case .dropValue: "\(escaped(key))="
                case .null: "\(escaped(key))=null"
                }
            }
        }

        /// The texts of members or elements one after the other; those of nothing are empty.
        private func joined(_ texts: [String]) -> String {
            (followsAlamofire ? texts.sorted() : texts).filter { !$0.isEmpty }.joined(separator: "&")
        }

        private func elementKey(_ key: String, _ index: Int) -> String {
            switch arrays {
            case .brackets: "\(key)[]"
            case .noBrackets: key
            case .indexInBrackets: "\(key)[\(index)]"
            case .transformed(let custom): custom.closure(key, index)
            }
        }

        /// Percent-encodes all but the unreserved characters of RFC 3986 §2.3, and `?` and `/`, which a query may
        /// contain.
        private func escaped(_ text: String) -> String {
            var result = ""
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"), UInt8(ascii: "?"), UInt8(ascii: "/"):
                    result.unicodeScalars.append(Unicode.Scalar(byte))
                case UInt8(ascii: " ") where spaces == .plusReplaced:
                    result += "+"
                default:
                    result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
                }
            }
            return result
        }
    }
}

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
