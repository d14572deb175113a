// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Request {
    /// Decodes values from bytes, as `JSONDecoder` does.
    public protocol DataDecoder: Sendable {
        /// Returns the decoded value.
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
    }
}

extension JSONDecoder: Request.DataDecoder {}

/// The decoder of calls that name none: a `JSONDecoder()` that all of them share.
///
/// A request that waits keeps its decoder. It is a type of its own, so that its settings cannot be changed.
@usableFromInline
struct StandardDecoder: Request.DataDecoder {
    private static let json = JSONDecoder()

    @usableFromInline
    init() {}

    @usableFromInline
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try Self.json.decode(type, from: data)
    }
}
