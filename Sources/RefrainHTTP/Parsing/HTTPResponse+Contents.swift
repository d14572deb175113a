#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPResponse {
    /// The bytes of the body, or nil if the response is streamed.
    public var data: Data? { body.dataInMemory }

    /// The body as text, or nil if the response is streamed.
    ///
    /// Decoded as UTF-8, or as ISO-8859-1, Windows-1252, UTF-16 or UTF-32 if `Content-Type` says so. Invalid bytes
    /// become U+FFFD.
    public var text: String? {
        guard let bytes = body.dataInMemory else { return nil }
        let type = MediaType.parse(fieldValues: headers[values: "Content-Type"])
        switch type?[parameter: "charset"].flatMap(TextEncoding.named) {
        case .isoLatin1, .ascii: return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case nil, .utf8: return String(decoding: bytes, as: UTF8.self)
        case let encoding?: return String(bytes: bytes, encoding: encoding) ?? String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Decodes the body from JSON.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/cannotParseResponse`` if the body is not such a value or is
    ///   streamed.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws(HTTPError) -> Value {
        guard let data else {
            throw cannotParse("the body is a stream; collect its bytes first", nil)
        }
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw cannotParse("the body is not a \(type) in JSON: \(error)", error)
        }
    }

    private func cannotParse(_ message: String, _ underlying: (any Error)?) -> HTTPError {
        HTTPError(
            .cannotParseResponse,
            request: request,
            response: self,
            underlyingError: underlying,
            message: message,
            bytesSent: exchange.bytesSent
        )
    }
}
