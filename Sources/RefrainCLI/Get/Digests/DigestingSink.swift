internal import Refrain

/// Computes the digest of a content that is not kept.
final class DigestingSink: ContentSink {
    /// The sink behind it.
    let inner: any ContentSink
    private let algorithm: ContentDigest.Algorithm
    private let computation: Locked<ContentDigest.Computation>

    init(_ inner: any ContentSink, _ algorithm: ContentDigest.Algorithm) {
        self.inner = inner
        self.algorithm = algorithm
        computation = Locked(ContentDigest.Computation(algorithm))
    }

    var delivered: Int64 { inner.delivered }
    var canStartOver: Bool { inner.canStartOver }

    /// The digest of what has come; it can be taken once.
    func digest() -> [UInt8] { computation.withLock { $0.finish() } }

    func write(_ bytes: [UInt8]) async throws {
        computation.withLock { computation in bytes.withUnsafeBytes { computation.update($0) } }
        try await inner.write(bytes)
    }

    func startOver() async throws {
        computation.withLock { $0 = ContentDigest.Computation(algorithm) }
        try await inner.startOver()
    }

    func finish() throws { try inner.finish() }
    func discard() { inner.discard() }
}
