// SPDX-License-Identifier: Apache-2.0
/// The trust evaluation of servers by host, with evaluators that are types, as in Alamofire.
public struct ServerTrustManager: Sendable {
    /// Whether hosts without an evaluator are refused.
    public let allHostsMustBeEvaluated: Bool
    /// The evaluators by host.
    public let evaluators: [String: any ServerTrustEvaluating]

    /// Makes a manager; a session checks the names and the files when it is made.
    ///
    /// - Parameters:
    ///   - allHostsMustBeEvaluated: whether hosts without an evaluator are refused. Defaults to true.
    ///   - evaluators: the evaluators by host, without scheme and port.
    public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
    }

    /// Returns the evaluator of a host; nil where it has none and needs none.
    ///
    /// - Throws: `InvalidArgument` for a host that must have one.
    public func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        if let evaluator = evaluators[host] { return evaluator }
        guard allHostsMustBeEvaluated else { return nil }
        throw InvalidArgument("host", is: host, expected: "a host with an evaluator")
    }

    /// The same for a transport.
    ///
    /// - Throws: `InvalidArgument` for an invalid host name, and for evaluators that cannot be made.
    public func serverTrust() throws -> ServerTrust {
        try ServerTrust(
            allHostsMustBeEvaluated: allHostsMustBeEvaluated,
            evaluators: evaluators.mapValues { try $0.makeEvaluator() }
        )
    }
}

/// The evaluation of one server.
///
/// The transport evaluates: there is no method that is called with a certificate, and no evaluator of one's own.
public protocol ServerTrustEvaluating: Sendable {
    /// Returns what the transport needs.
    ///
    /// - Throws: `InvalidArgument` for keys that are none.
    func makeEvaluator() throws -> ServerTrust.Evaluator
}

extension ServerTrust.Evaluator: ServerTrustEvaluating {
    /// Returns the evaluator itself.
    public func makeEvaluator() -> ServerTrust.Evaluator { self }
}

/// Evaluates by the system's authorities, as a session without a manager does.
public struct DefaultTrustEvaluator: ServerTrustEvaluating {
    /// Makes the evaluator.
    public init() {}

    /// Returns `.system`.
    public func makeEvaluator() -> ServerTrust.Evaluator { .system }
}

/// Evaluates nothing, for tests only: any certificate is accepted.
public struct DisabledTrustEvaluator: ServerTrustEvaluating {
    /// Makes the evaluator.
    public init() {}

    /// Returns `.disabledAndInsecure`.
    public func makeEvaluator() -> ServerTrust.Evaluator { .disabledAndInsecure }
}

/// Accepts certificates of the authorities in a file only.
///
/// The certificates of an app's bundle are one file in PEM here, and a server's own certificate can be among them.
public struct PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    /// The path of the file.
    public let certificateFile: String

    /// Makes the evaluator.
    ///
    /// - Parameter certificateFile: the path of a file in PEM, which a session reads when it is made.
    public init(certificateFile: String) { self.certificateFile = certificateFile }

    /// Returns `.certificateFile(_:)`.
    public func makeEvaluator() -> ServerTrust.Evaluator { .certificateFile(certificateFile) }
}

/// Accepts servers with one of some public keys, and a certificate of the system's authorities.
public struct PublicKeysTrustEvaluator: ServerTrustEvaluating {
    /// The pins in curl's format.
    public let keys: [String]

    /// Makes the evaluator.
    ///
    /// - Parameter keys: the pins in curl's format: `sha256//` and the Base64 of the hash of the key's
    ///   SubjectPublicKeyInfo.
    public init(keys: [String]) { self.keys = keys }

    /// Returns `.publicKeys(_:authorities:)`.
    ///
    /// - Throws: `InvalidArgument` for an empty list and for an invalid pin.
    public func makeEvaluator() throws -> ServerTrust.Evaluator { try .publicKeys(keys) }
}

/// Not there: libcurl does not check revocation.
@available(*, unavailable, message: "libcurl does not check revocation; pin the keys with PublicKeysTrustEvaluator")
public struct RevocationTrustEvaluator: Sendable {}

/// Not there: a transport holds one evaluator for each host.
@available(*, unavailable, message: "a host has one evaluator; ServerTrust.Evaluator.publicKeys(_:authorities:)")
public struct CompositeTrustEvaluator: Sendable {}

extension Session {
    /// Makes a session with the platform's transport and a trust evaluation by host.
    ///
    /// - Throws: `InvalidArgument` for a certificate file that cannot be read, and as
    ///   ``ServerTrustManager/serverTrust()``.
    public convenience init(
        interceptor: (any RequestInterceptor)? = defaultInterceptor,
        serverTrustManager: ServerTrustManager,
        eventMonitors: [any EventMonitor] = []
    ) throws {
        try self.init(
            serverTrust: serverTrustManager.serverTrust(),
            interceptor: interceptor,
            eventMonitors: eventMonitors
        )
    }
}
