#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Which servers are trusted over TLS, host by host.
///
/// ```swift
/// let trust = try ServerTrust(evaluators: [
///     "api.example.com": .publicKeys(["sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]),
///     "intranet.example": .certificateFile("/etc/ssl/intranet.pem"),
/// ])
/// let session = try Session(serverTrust: trust)
/// ```
///
/// A transport is made with it. Requests without TLS are not concerned. The idea is Alamofire's `ServerTrustManager`.
public struct ServerTrust: Hashable, Sendable {
    /// Whether a host that has no evaluator is refused; else the transport judges it as it does all hosts.
    public let allHostsMustBeEvaluated: Bool
    private let evaluators: [String: Evaluator]

    /// Says how hosts are judged.
    ///
    /// - Parameters:
    ///   - allHostsMustBeEvaluated: whether a host that is not named is refused.
    ///   - evaluators: by host, without scheme and port; only the very host, in any case, not those below it. A name
    ///     that is not in ASCII can be given as it is written or as it is sent (`xn--…`).
    /// - Throws: `InvalidArgument` for a name that is no host, or that stands there twice.
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

    /// How a server is judged.
    public struct Evaluator: Hashable, Sendable {
        /// Who vouches for a server.
        public enum Authorities: Hashable, Sendable {
            /// The authorities that the system knows.
            case system
            /// The authorities in this file (PEM), and no others.
            case certificateFile(String)
            /// Nobody has to.
            case nobody
        }

        /// Who has to vouch for the server.
        public let authorities: Authorities
        /// The public keys of which the server must have one; empty: any.
        public let pins: [PublicKeyPin]

        /// The system's authorities vouch for the server, for its name and its dates.
        public static let system = Evaluator(authorities: .system, pins: [])

        /// An authority in this file (PEM) vouches for the server, and no other one.
        public static func certificateFile(_ path: String) -> Evaluator {
            Evaluator(authorities: .certificateFile(path), pins: [])
        }

        /// The server has one of these keys, and authorities vouch for it besides.
        ///
        /// Name the key that comes next as well: a server that changes its key is out of reach otherwise.
        ///
        /// - Parameters:
        ///   - pins: as curl writes them, `sha256//` and the Base64 of the hash of the key's SubjectPublicKeyInfo.
        ///   - authorities: who vouches for it, by name and dates.
        /// - Throws: `InvalidArgument` for no pin at all, and for a text that is none.
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

        /// Whoever answers is trusted, and anybody on the way can read and change everything: only for tests.
        public static let disabledAndInsecure = Evaluator(authorities: .nobody, pins: [])
    }

    /// How this host is judged, or nil where it has no evaluator.
    public func evaluator(forHost host: String) -> Evaluator? { Self.canonical(host).flatMap { evaluators[$0] } }

    /// How the host of a request is judged; nil where it goes without TLS, or where the transport's own rule holds.
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

    /// The files of authorities that are named.
    package var certificateFiles: [String] {
        evaluators.values.compactMap { if case .certificateFile(let path) = $0.authorities { path } else { nil } }
    }

    /// A host as ``Origin/host`` has it, without the brackets of an address and the dot of the root; nil for what is
    /// none.
    private static func canonical(_ host: String) -> String? {
        var host = host[...]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        // A colon belongs to an address of IPv6 only, which has more than one of them.
        if host.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 {
            let isAddress = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/@?#*".utf8.contains($0) }
            return isAddress ? host.lowercased() : nil
        }
        guard var name = HostName.ascii(String(host)), !name.utf8.contains(UInt8(ascii: "*")) else { return nil }
        if name.hasSuffix(".") { name.removeLast() }
        return name.isEmpty ? nil : name
    }
}
