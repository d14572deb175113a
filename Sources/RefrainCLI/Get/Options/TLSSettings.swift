// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The TLS settings of the options.
enum TLSSettings {
    /// Sets trust, certificates and versions.
    static func apply(
        _ arguments: Arguments,
        to configuration: inout CurlLoader.Configuration
    ) throws(UsageError) {
        if let file = arguments.last(.cacert) {
            configuration.trust = .certificateFile(try authorities(file))
        }
        if arguments.has(.insecure) { configuration.trust = .insecure }
        configuration.clientCertificate = try ClientCertificateFiles.certificate(arguments)
        try applyVersions(arguments, to: &configuration.overrides)
        configuration.overrides.pinnedKeys = try arguments.last(.pinnedpubkey).map(pinnedKeys)
        if let folder = arguments.last(.capath) {
            guard Directory.kind(of: folder) == .folder else {
                throw .badValue(folder, of: "--capath", "is not a folder")
            }
            configuration.overrides.authoritiesFolder = folder
        }
        if let file = arguments.last(.crlfile) {
            guard Directory.kind(of: file) == .file else { throw .badValue(file, of: "--crlfile", "is not a file") }
            configuration.overrides.texts[.crlfile] = file
        }
        for (name, text) in texts {
            guard let value = arguments.last(name) else { continue }
            guard !value.isEmpty, HTTPHeaders.isValidValue(value) else {
                throw .badValue(value, of: "--\(name.rawValue)", "is empty, or contains a control character")
            }
            configuration.overrides.texts[text] = value
        }
    }

    private static let texts: [(OptionName, CurlLoader.ConnectionOverrides.TextOption)] = [
        (.ciphers, .ciphers), (.tls13Ciphers, .tls13Ciphers), (.curves, .curves),
    ]

    private static func applyVersions(
        _ arguments: Arguments,
        to overrides: inout CurlLoader.ConnectionOverrides
    ) throws(UsageError) {
        // The last one applies, whichever option it is.
        overrides.oldestTLS = arguments.given.compactMap { oldest[$0.name] }.last
        guard let text = arguments.last(.tlsMax), text != "default" else { return }
        guard let version = newest[text] else {
            throw .badValue(text, of: "--tls-max", "is not default, 1.0, 1.1, 1.2 or 1.3")
        }
        guard (overrides.oldestTLS?.rawValue ?? 0) <= version.rawValue else {
            throw UsageError("--tls-max \(text) is older than the oldest version that another option allows")
        }
        overrides.newestTLS = version
    }

    private static let oldest: [OptionName: CurlLoader.ConnectionOverrides.TLSVersion] = [
        .tlsv1: .any, .tlsv10: .v10, .tlsv11: .v11, .tlsv12: .v12, .tlsv13: .v13,
    ]
    private static let newest: [String: CurlLoader.ConnectionOverrides.TLSVersion] = [
        "1.0": .v10, "1.1": .v11, "1.2": .v12, "1.3": .v13,
    ]

    /// The pinned keys, of which the server must have one: hashes, or a file with one key.
    private static func pinnedKeys(_ text: String) throws(UsageError) -> String {
        guard text.hasPrefix("sha256//") else {
            guard Directory.kind(of: text) == .file else {
                throw .badValue(text, of: "--pinnedpubkey", "is neither a file nor sha256//HASH;sha256//HASH")
            }
            return text
        }
        do throws(InvalidArgument) {
            _ = try ServerTrust.Evaluator.publicKeys(text.split(separator: ";").map(String.init))
        } catch {
            throw .badValue(error.value, of: "--pinnedpubkey", "is not \(error.expected)")
        }
        return text
    }

    /// The path of a file with certificates, after validation.
    private static func authorities(_ file: String) throws(UsageError) -> String {
        do throws(SystemError) {
            let input = try Input(path: file, isBounded: true)
            let pem = try input.rest(limit: Input.settingsLimit)
            if CertificateText.isSound(String(decoding: pem, as: UTF8.self)) {
                // Each new connection reads the file, and a pipe is now empty.
                return input.fileSize == nil ? try UnlinkedTemporaryFile.path(holding: pem) : file
            }
        } catch {
            throw UsageError("--cacert: \(error)")
        }
        throw UsageError("--cacert: \(file) has no complete certificate in PEM form")
    }
}
