#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPBody {
    /// A value as JSON (RFC 8259), sent as `application/json`.
    ///
    /// - Throws: what the encoder throws.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> HTTPBody {
        .data(try encoder.encode(value), contentType: "application/json")
    }

    /// Bytes of Foundation's kind.
    public static func data(_ data: Data, contentType: String? = nil) -> HTTPBody {
        .bytes(data, contentType: contentType)
    }
}
