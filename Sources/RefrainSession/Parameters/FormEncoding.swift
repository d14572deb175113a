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
        /// Whether the elements of a list are sorted by their text, and the members of a superclass stand beside those
        /// of its subclass, as Alamofire's encoder of `Encodable` values has them.
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
        public func text(of parameters: Parameters) -> String {
            var pairs: [String] = []
            for (key, value) in parameters.sorted(by: { $0.key < $1.key }) {
                append(value, key: keys.text(key), to: &pairs)
            }
            return pairs.joined(separator: "&")
        }

        private func append(_ value: JSONEncoding.Value, key: String, to pairs: inout [String]) {
            switch value {
            case .dictionary(let members):
                for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                    append(member, key: key + keyPaths.text(keys.text(name)), to: &pairs)
                }
            case .array(let elements):
                let segments = elements.enumerated().map { index, element in
                    var own: [String] = []
                    append(element, key: elementKey(key, index), to: &own)
                    return own
                }
                let ordered = followsAlamofire ? segments.sorted { $0.lexicographicallyPrecedes($1) } : segments
                for segment in ordered { pairs += segment }
            case .string(let text): pairs.append("\(escaped(key))=\(escaped(text))")
            case .int(let number): pairs.append("\(escaped(key))=\(number)")
            case .double(let number): pairs.append("\(escaped(key))=\(escaped("\(number)"))")
            case .bool(let flag): pairs.append("\(escaped(key))=\(bools == .numeric ? (flag ? "1" : "0") : "\(flag)")")
            case .null:
                switch nils {
                case .dropKey: break
                case .dropValue: pairs.append("\(escaped(key))=")
                case .null: pairs.append("\(escaped(key))=null")
                }
            }
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
