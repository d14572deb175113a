#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPBody {
    /// A body with a value encoded as JSON (RFC 8259), sent as `application/json`.
    ///
    /// - Throws: the errors of the encoder.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> HTTPBody {
        .data(try encoder.encode(value), contentType: "application/json")
    }

    /// A body of Foundation's `Data`.
    public static func data(_ data: Data, contentType: String? = nil) -> HTTPBody {
        .bytes(data, contentType: contentType)
    }
}
