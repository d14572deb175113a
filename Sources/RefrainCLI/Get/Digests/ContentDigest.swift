// SPDX-License-Identifier: Apache-2.0
internal import CLibcrypto
internal import Refrain

/// An expected digest of a body, and its source.
struct ContentDigest: Hashable, Sendable {
    /// A hash function, by its name in the registry of RFC 9530 §5.
    enum Algorithm: String, CaseIterable, Sendable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"

        /// How many bytes its digests have.
        var length: Int { self == .sha256 ? 32 : 64 }
    }

    let algorithm: Algorithm
    let bytes: [UInt8]
    /// Where it comes from, for messages: an option, a line of a file, a field.
    let source: String

    init(_ algorithm: Algorithm, _ bytes: [UInt8], source: String) {
        self.algorithm = algorithm
        self.bytes = bytes
        self.source = source
    }

    /// A digest in hexadecimal digits, whose number determines the function; nil for any other text.
    init?(hex text: some StringProtocol, source: String) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count,
            let algorithm = Algorithm.allCases.first(where: { $0.length * 2 == digits.count })
        else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        self.init(algorithm, bytes, source: source)
    }

    /// Whether a file has this digest; false if it cannot be read, or the task was cancelled.
    func isOf(_ path: String) -> Bool {
        let computation = Computation(algorithm)
        do throws(SystemError) {
            let input = try Input(path: path)
            while let chunk = try input.next() {
                guard !Task.isCancelled else { return false }
                chunk.withUnsafeBytes { computation.update($0) }
            }
        } catch {
            return false
        }
        return computation.finish() == bytes
    }

    /// Bytes in hexadecimal digits.
    static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The SHA-256 of bytes, in hexadecimal digits.
    static func sha256(of bytes: [UInt8]) -> String {
        let computation = Computation(.sha256)
        bytes.withUnsafeBytes { computation.update($0) }
        return hex(computation.finish())
    }

    /// Computes a digest, piece by piece, with OpenSSL's libcrypto.
    final class Computation {
        private let context = EVP_MD_CTX_new()

        init(_ algorithm: Algorithm) {
            EVP_DigestInit_ex(context, algorithm == .sha256 ? EVP_sha256() : EVP_sha512(), nil)
        }

        deinit { EVP_MD_CTX_free(context) }

        /// Adds bytes.
        func update(_ bytes: UnsafeRawBufferPointer) {
            guard let base = bytes.baseAddress else { return }
            EVP_DigestUpdate(context, base, bytes.count)
        }

        /// The digest of all bytes; an empty one if the library fails.
        func finish() -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
                var length: UInt32 = 0
                let isDone = EVP_DigestFinal_ex(context, buffer.baseAddress, &length) == 1
                count = isDone ? Int(length) : 0
            }
        }
    }
}

/// A body with another digest than expected.
struct DigestMismatch: Error, CustomStringConvertible {
    let expected: ContentDigest
    let actual: [UInt8]

    var description: String {
        "its \(expected.algorithm.rawValue) is \(ContentDigest.hex(actual)), "
            + "but \(expected.source) says \(ContentDigest.hex(expected.bytes)); it is discarded"
    }
}

/// The digest fields of HTTP (RFC 9530).
enum DigestFields {
    /// The request for a digest of the whole body, whichever part of it is sent (§4).
    static let wanted = (name: "Want-Repr-Digest", value: "sha-256=10, sha-512=5")

    /// The digests that a response gives for the content as it is stored.
    ///
    /// `Repr-Digest` is of the whole, also on a part (§3); `Content-Digest` is of the content of this message (§2).
    /// Both are of the coded form, so they do not apply to a body that was decoded. Malformed digests and those of
    /// other functions are ignored.
    static func digests(_ response: HTTPResponse) -> [ContentDigest] {
        guard !response.headers.contains("Content-Encoding") else { return [] }
        let digests = digests(response, "Repr-Digest")
        // If a body came in several responses, the last one had a part of it.
        return digests.isEmpty && response.status == .ok ? self.digests(response, "Content-Digest") : digests
    }

    private static func digests(_ response: HTTPResponse, _ name: String) -> [ContentDigest] {
        let digests = response.headers.digests(in: name)
        return ContentDigest.Algorithm.allCases.compactMap { algorithm in
            guard let bytes = digests[algorithm.rawValue], bytes.count == algorithm.length else { return nil }
            return ContentDigest(algorithm, bytes, source: "the server's \(name)")
        }
    }
}

/// Computes the digest of a body that is not kept.
final class DigestingSink: ContentSink {
    /// The inner sink.
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

    /// The digest of all bytes; can be taken once.
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
