// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The TLS trust evaluation of servers, by host.
///
/// ```swift
/// let trust = try ServerTrust(evaluators: [
///     "api.example.com": .publicKeys(
///         ["sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
///     ),
///     "intranet.example": .certificateFile("/etc/ssl/intranet.pem"),
/// ])
/// let session = try Session(serverTrust: trust)
/// ```
///
/// It is passed to a transport's initializer. It does not apply to requests without TLS.
public struct ServerTrust: Hashable, Sendable {
    /// Whether hosts without an evaluator are refused.
    ///
    /// If false, the transport evaluates them by its own rules.
    public let allHostsMustBeEvaluated: Bool
    private let evaluators: [String: Evaluator]

    /// Makes the evaluators of hosts.
    ///
    /// - Parameters:
    ///   - allHostsMustBeEvaluated: whether hosts without an evaluator are refused. Defaults to true.
    ///   - evaluators: the evaluators by host, without scheme and port. A host matches exactly, regardless of case; its
    ///     subdomains do not match. An internationalized name can be given in Unicode or as `xn--…`.
    /// - Throws: `InvalidArgument` for an invalid host name, or one that occurs twice.
    public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: Evaluator]) throws(InvalidArgument) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        var byHost: [String: Evaluator] = [:]
        for (name, evaluator) in evaluators {
            guard let host = Self.canonical(name) else {
                throw InvalidArgument("evaluators", is: name, expected: "a host such as api.example.com, and no URL")
            }
            guard byHost.updateValue(evaluator, forKey: host) == nil else {
                throw InvalidArgument("evaluators", is: name, expected: "named once")
            }
        }
        self.evaluators = byHost
    }

    /// The evaluation of one server.
    public struct Evaluator: Hashable, Sendable {
        /// The certificate authorities that are trusted.
        public enum Authorities: Hashable, Sendable {
            /// The system's authorities.
            case system
            /// Only the authorities in this PEM file.
            case certificateFile(String)
            /// Any certificate is accepted.
            case any
        }

        /// The trusted authorities.
        public let authorities: Authorities
        /// The public keys of which the server must present one; empty: any key.
        public let pins: [PublicKeyPin]

        /// Accepts certificates of the system's authorities, with a matching name and valid dates.
        public static let system = Evaluator(authorities: .system, pins: [])

        /// Accepts certificates of the authorities in this PEM file only.
        public static func certificateFile(_ path: String) -> Evaluator {
            Evaluator(authorities: .certificateFile(path), pins: [])
        }

        /// Accepts servers that have one of these keys and a certificate of the authorities.
        ///
        /// Also pin the next key: a server that changes to a key without a pin becomes unreachable.
        ///
        /// - Parameters:
        ///   - pins: pins in curl's format: `sha256//` and the Base64 of the hash of the key's SubjectPublicKeyInfo.
        ///   - authorities: the authorities that must have issued the certificate, with a matching name and valid
        ///     dates.
        /// - Throws: `InvalidArgument` for an empty list and for an invalid pin.
        public static func publicKeys(
            _ pins: [String],
            authorities: Authorities = .system
        ) throws(InvalidArgument) -> Evaluator {
            guard !pins.isEmpty else {
                throw InvalidArgument(
                    "pins",
                    is: "an empty list",
                    expected: "one key or more; without any, name .system"
                )
            }
            var parsed: [PublicKeyPin] = []
            for pin in pins { parsed.append(try PublicKeyPin(pin)) }
            return Evaluator(authorities: authorities, pins: parsed)
        }

        /// Accepts any certificate, so that traffic can be read and changed on its way.
        ///
        /// For tests only.
        public static let disabledAndInsecure = Evaluator(authorities: .any, pins: [])
    }

    /// The evaluator of a host, or nil if it has none.
    public func evaluator(forHost host: String) -> Evaluator? { Self.canonical(host).flatMap { evaluators[$0] } }

    /// The evaluator of a request's host, or nil if the request uses no TLS or the transport's own rules apply.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/serverCertificateUntrusted`` for a host that must have an
    ///   evaluator.
    package func evaluator(for request: HTTPRequest) throws(HTTPError) -> Evaluator? {
        guard let origin = request.origin, origin.scheme == "https" else { return nil }
        if let evaluator = evaluator(forHost: origin.host) { return evaluator }
        guard allHostsMustBeEvaluated else { return nil }
        let message =
            "there is no evaluator for the host \(origin.host): name it in the ServerTrust, or make that with "
            + "allHostsMustBeEvaluated: false"
        throw HTTPError(.serverCertificateUntrusted, request: request, message: message, bytesSent: 0)
    }

    /// The authority files of all evaluators.
    package var certificateFiles: [String] {
        evaluators.values.compactMap { if case .certificateFile(let path) = $0.authorities { path } else { nil } }
    }

    /// Normalizes a host as ``Origin/host`` does, without the brackets of an address and the trailing dot; returns nil
    /// for an invalid host.
    private static func canonical(_ host: String) -> String? {
        var host = host[...]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        // Only an IPv6 address contains colons, at least two.
        if host.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 {
            let isAddress = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/@?#*".utf8.contains($0) }
            return isAddress ? host.lowercased() : nil
        }
        guard var name = HostName.ascii(String(host)), !name.utf8.contains(UInt8(ascii: "*")) else { return nil }
        if name.hasSuffix(".") { name.removeLast() }
        return name.isEmpty ? nil : name
    }
}

extension ServerTrust {
    /// The SHA-256 hash of a public key's SubjectPublicKeyInfo (RFC 7469 §2.4).
    public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
        /// The 32 bytes of the hash.
        public let sha256: [UInt8]

        /// Parses a pin in curl's format: `sha256//` and 44 characters of Base64.
        ///
        /// - Throws: `InvalidArgument` for any other text.
        public init(_ text: String) throws(InvalidArgument) {
            let prefix = "sha256//"
            guard text.hasPrefix(prefix), let hash = Data(base64Encoded: String(text.dropFirst(prefix.count))),
                hash.count == 32
            else {
                throw InvalidArgument("pin", is: text, expected: "sha256// and the Base64 of 32 bytes")
            }
            sha256 = Array(hash)
        }

        /// The pin in curl's format.
        public var description: String { "sha256//" + Data(sha256).base64EncodedString() }
    }
}
