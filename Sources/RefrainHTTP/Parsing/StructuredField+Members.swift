extension StructuredField {
    /// Keys and values in the order of the field.
    ///
    /// A key that stands twice keeps its first place and its last value, as RFC 9651 §4.2.2 has it.
    public struct Members<Value: Hashable & Sendable>: Hashable, Sendable {
        /// The keys, in order.
        public private(set) var keys: [String] = []
        private var values: [String: Value] = [:]

        /// Makes an empty collection.
        public init() {}

        /// Whether there are none.
        public var isEmpty: Bool { keys.isEmpty }

        /// The value under a key, or `nil`; values that are set for new keys go to the end.
        public subscript(key: String) -> Value? {
            get { values[key] }
            set {
                let old = values.updateOrRemove(newValue, forKey: key)
                if old == nil, newValue != nil { keys.append(key) }
                if old != nil, newValue == nil { keys.removeAll { $0 == key } }
            }
        }
    }
}

extension Dictionary {
    /// Sets or removes a value, and gives the old one.
    fileprivate mutating func updateOrRemove(_ value: Value?, forKey key: Key) -> Value? {
        if let value { updateValue(value, forKey: key) } else { removeValue(forKey: key) }
    }
}
