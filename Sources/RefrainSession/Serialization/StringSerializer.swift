#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The body as text, in the encoding that is given, or that the content's type names, or else the one that fits.
///
/// Where neither is there, bytes that are valid UTF-8 are read as that, and all others as ISO-8859-1, which is what
/// Alamofire takes for all that has no name. An encoding that was named is the only one that is tried.
public struct StringResponseSerializer: ResponseSerializer {
    /// The encoding; nil: that of the response.
    public let encoding: String.Encoding?
    /// Which responses may be empty.
    public let emptyResponses: EmptyResponseRules

    /// Makes the serializer.
    public init(encoding: String.Encoding? = nil, emptyResponses: EmptyResponseRules = .standard) {
        self.encoding = encoding
        self.emptyResponses = emptyResponses
    }

    /// The text.
    ///
    /// - Throws: ``RefrainError/responseSerializationFailed(reason:attempts:)`` where there is no content, or it is no
    ///   text.
    public func serialize(_ response: HTTPResponse) throws -> String {
        let bytes = response.content
        guard !bytes.isEmpty else {
            guard emptyResponses.allow(response) else {
                throw RefrainError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
            }
            return ""
        }
        let charset = MediaType.parse(fieldValues: response.headers[values: "Content-Type"])?[parameter: "charset"]
        let chosen = encoding ?? charset.flatMap(Self.encoding(named:)) ?? .utf8
        let isNamed = encoding != nil || charset != nil
        guard
            let text = String(bytes: bytes, encoding: chosen)
                ?? (isNamed ? nil : String(bytes: bytes, encoding: .isoLatin1))
        else {
            let name = encoding == nil ? charset ?? "utf-8" : "\(chosen)"
            throw RefrainError.responseSerializationFailed(
                reason: .stringSerializationFailed(encoding: name, body: Array(bytes))
            )
        }
        return text
    }

    /// The encodings that every platform has, by their IANA names.
    private static func encoding(named name: String) -> String.Encoding? {
        switch name.lowercased() {
        case "utf-8", "utf8": .utf8
        case "us-ascii", "ascii": .ascii
        case "iso-8859-1", "latin1": .isoLatin1
        case "windows-1252": .windowsCP1252
        case "utf-16": .utf16
        case "utf-16be": .utf16BigEndian
        case "utf-16le": .utf16LittleEndian
        case "utf-32": .utf32
        default: nil
        }
    }
}
