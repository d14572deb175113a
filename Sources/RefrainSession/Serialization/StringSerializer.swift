#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Request {
    /// Returns the body as text.
    ///
    /// The encoding is the given one, or that of the response's content type. If neither is set, valid UTF-8 is decoded
    /// as UTF-8, and all other bytes as ISO-8859-1, Alamofire's default. A given or declared encoding has no fallback.
    public struct StringSerializer: ResponseSerializer {
        /// Changes the bytes before they are used, if set.
        public let preprocessor: (any DataSerializer.Preprocessor)?
        /// The encoding; nil means that of the response.
        public let encoding: String.Encoding?
        /// The responses that may be empty.
        public let emptyResponses: Empty.Rules

        /// Makes the serializer.
        public init(
            preprocessor: (any DataSerializer.Preprocessor)? = nil,
            encoding: String.Encoding? = nil,
            emptyResponses: Empty.Rules = .standard
        ) {
            self.preprocessor = preprocessor
            self.encoding = encoding
            self.emptyResponses = emptyResponses
        }

        /// Returns the text.
        ///
        /// - Throws: ``RefrainError/responseSerializationFailed(reason:attempts:)`` if the body is empty and may not
        ///   be, or is not text in the encoding.
        public func serialize(_ response: HTTPResponse) throws -> String {
            var bytes = response.content
            guard !bytes.isEmpty else {
                guard emptyResponses.allow(response) else {
                    throw RefrainError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
                }
                return ""
            }
            bytes = try preprocessor.apply(to: bytes)
            let charset = MediaType.parse(fieldValues: response.headers[values: "Content-Type"])?[parameter: "charset"]
            let chosen = encoding ?? charset.flatMap(TextEncoding.named) ?? .utf8
            let isNamed = encoding != nil || charset != nil
            guard
                let text = String(bytes: bytes, encoding: chosen)
                    ?? (isNamed ? nil : String(bytes: bytes, encoding: .isoLatin1))
            else {
                let name = encoding.map { TextEncoding.name(of: $0) ?? "\($0)" } ?? charset ?? "utf-8"
                throw RefrainError.responseSerializationFailed(
                    reason: .stringSerializationFailed(encoding: name, body: Array(bytes))
                )
            }
            return text
        }
    }
}
