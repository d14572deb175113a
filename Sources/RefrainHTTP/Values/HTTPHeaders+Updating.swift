extension HTTPHeaders {
    /// Makes fields from a dictionary, sorted by name; of names that differ in case alone, the last one counts.
    @_optimize(none)
    public init(_ dictionary: [String: String]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) })
    }

    /// Makes fields from field lines; of several with one name, the last one counts, at the position of the first.
    ///
    /// To keep repeats, write an array literal or call ``add(_:_:)``.
    public init(_ fields: [Field]) {
        self.init()
        reserveCapacity(fields.count)
        for field in fields { update(field) }
    }

    /// Sets a field: all lines of that name become this one.
    ///
    /// As in Alamofire; ``add(_:_:)`` adds a further line.
    public mutating func add(name: String, value: String) { self[name] = value }

    /// Sets a field: all lines of that name become this one.
    public mutating func add(_ field: Field) { self[field.name] = field.value }

    /// Sets a field: all lines of that name become this one.
    public mutating func update(name: String, value: String) { self[name] = value }

    /// Sets a field: all lines of that name become this one.
    public mutating func update(_ field: Field) { self[field.name] = field.value }

    /// Removes all fields of a name.
    public mutating func remove(name: String) { remove(name) }

    /// The first value of a name, or nil.
    public func value(for name: String) -> String? { self[name] }

    /// These fields, sorted by name in lower case; lines of one name stay in their order.
    public func sorted() -> HTTPHeaders {
        var copy = self
        copy.sort()
        return copy
    }

    /// The fields by name; the lines of one name are joined by commas (RFC 9110 §5.3).
    public var dictionary: [String: String] {
        var names: [String: String] = [:]
        var values: [String: String] = [:]
        for field in fields {
            let name = names[field.name.lowercased(), default: field.name]
            names[field.name.lowercased()] = name
            values[name] = values[name].map { "\($0), \(field.value)" } ?? field.value
        }
        return values
    }
}

extension HTTPHeaders.Field: CustomStringConvertible {
    /// The field line in wire format.
    public var description: String { "\(name): \(value)" }
}
