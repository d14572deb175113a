// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The client certificate and its key, from the options.
enum ClientCertificateFiles {
    /// The certificate; nil without one.
    static func certificate(
        _ arguments: Arguments
    ) throws(UsageError) -> CurlLoader.ClientCertificate? {
        guard let text = arguments.last(.cert) else {
            for name in [OptionName.key, .pass] where arguments.has(name) {
                throw UsageError("--\(name.rawValue) belongs to a certificate, which --cert names")
            }
            return nil
        }
        let (path, suffix) = split(text)
        let password = arguments.last(.pass) ?? suffix
        let content = try content(of: path, .cert)
        guard !isPEM(content) else {
            guard CertificateText.isSound(String(decoding: content, as: UTF8.self)) else {
                throw UsageError("--cert: \(Sanitized.text(path)) has no complete certificate")
            }
            if let key = arguments.last(.key) { _ = try self.content(of: key, .key) }
            return .pem(path, key: arguments.last(.key), password: password)
        }
        // The first byte of every file of PKCS #12, a sequence in DER (RFC 7292 §4).
        guard content.first == 0x30 else {
            throw UsageError("--cert: \(Sanitized.text(path)) is neither PEM nor PKCS #12")
        }
        guard !arguments.has(.key) else { throw UsageError("--key: \(Sanitized.text(path)) has a key of its own") }
        return .pkcs12(path, password: password)
    }

    /// The file of a value of `--cert`, and the password after a colon, as in curl.
    static func split(_ text: String) -> (path: String, password: String?) {
        guard Directory.kind(of: text) != .file, let colon = text.firstIndex(of: ":") else { return (text, nil) }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }

    private static func isPEM(_ content: [UInt8]) -> Bool { content.contains(Array("-----BEGIN ".utf8)) }

    private static func content(of path: String, _ option: OptionName) throws(UsageError) -> [UInt8] {
        guard Directory.kind(of: path) == .file, let content = try? Input(path: path).rest() else {
            throw UsageError("--\(option.rawValue): cannot read \(Sanitized.text(path))")
        }
        return content
    }
}
