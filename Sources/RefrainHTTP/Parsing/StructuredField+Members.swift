extension StructuredField {
    /// Keys and values in the order of the field.
    ///
    /// A repeated key keeps its first position and its last value (RFC 9651 §4.2.2).
    public struct Members<Value: Hashable & Sendable>: Hashable, Sendable {
        /// The keys, in order.
        public private(set) var keys: [String] = []
        private var values: [String: Value] = [:]

        /// Makes an empty collection.
        public init() {}

        /// Whether the collection is empty.
        public var isEmpty: Bool { keys.isEmpty }

        /// The value of a key, or `nil`.
        ///
        /// A value set for a new key is appended.
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
    /// Sets or removes a value, and returns the previous one.
    fileprivate mutating func updateOrRemove(_ value: Value?, forKey key: Key) -> Value? {
        if let value { updateValue(value, forKey: key) } else { removeValue(forKey: key) }
    }
}
