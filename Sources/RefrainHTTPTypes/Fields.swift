// SPDX-License-Identifier: Apache-2.0
#if HTTPTypes
extension RefrainHeaders {
    /// Makes header fields from those of HTTPTypes, in the same order and with the names as they are spelled.
    public init(_ fields: HTTPFields) {
        self.init()
        reserveCapacity(fields.count)
        for field in fields { add(field.name.rawName, field.value) }
    }
}

extension HTTPFields {
    /// Makes fields of HTTPTypes from header fields, in the same order.
    ///
    /// - Throws: `InvalidArgument` for a name that is not a token, a value with a control character or with white space
    ///   at an end (RFC 9110 §5.1, §5.5), and more fields than HTTPTypes can hold.
    public init(_ headers: RefrainHeaders) throws(InvalidArgument) {
        self.init()
        reserveCapacity(headers.count)
        for field in headers {
            guard let name = HTTPField.Name(field.name) else {
                throw InvalidArgument("header name", is: field.name, expected: "a token")
            }
            guard HTTPToken.isValidFieldValue(field.value) else {
                throw InvalidArgument("value of \(name)", is: "invalid", expected: "without control characters")
            }
            try append(HTTPField(name: name, value: field.value), within: Self.limit)
        }
    }

    /// Makes fields of HTTPTypes from what a server sent; fields that HTTPTypes cannot hold are left out.
    package init(received headers: RefrainHeaders) {
        self.init()
        for field in headers.prefix(Self.limit) {
            guard let name = HTTPField.Name(field.name) else { continue }
            append(HTTPField(name: name, lenientValue: Array(field.value.utf8)))
        }
    }

    /// The number of fields that HTTPTypes accepts; it ends the process beyond.
    private static let limit = Int(UInt16.max) - 1

    private mutating func append(_ field: HTTPField, within limit: Int) throws(InvalidArgument) {
        guard count < limit else { throw InvalidArgument("headers", is: count, expected: "at most \(limit) fields") }
        append(field)
    }
}
#endif
