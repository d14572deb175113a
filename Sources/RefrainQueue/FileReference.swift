// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

#if canImport(CommonCrypto)
internal import CommonCrypto
#else
internal import CLibcrypto
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A large body that stays in its file: its path, and what tells whether it has changed.
package struct FileReference: Sendable, Hashable {
    package let path: String
    let size: Int64
    /// SHA-256 in hexadecimal.
    let digest: String

    /// The form of a row: size, digest, path.
    package var text: String { "\(size) \(digest) \(path)" }

    /// Reads the form of a row.
    package init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 2)
        guard parts.count == 3, let size = Int64(parts[0]) else { return nil }
        (self.size, digest, path) = (size, String(parts[1]), String(parts[2]))
    }

    private init(path: String, size: Int64, digest: String) {
        (self.path, self.size, self.digest) = (path, size, digest)
    }

    /// Reads a file: its bytes if it has at most `limit`, otherwise a reference to it.
    static func read(_ path: String, upTo limit: Int) throws(QueueError) -> ([UInt8], FileReference?) {
        var small: [UInt8] = []
        let (size, digest) = try contents(of: path) { if small.count <= limit { small += $0 } }
        guard size > limit else { return (small, nil) }
        // A worker may run in another folder.
        return ([], FileReference(path: real(path) ?? path, size: size, digest: digest))
    }

    /// Checks that the file is the one that was enqueued.
    fileprivate func check() throws(QueueError) {
        let (size, digest) = try Self.contents(of: path) { _ in }
        guard size == self.size, digest == self.digest else {
            throw QueueError(.invalidRequest, "the file of the body has changed since it was enqueued: \(path)")
        }
    }

    /// What differs once a file was replaced or written, without reading it; nil: nothing is there.
    fileprivate var stamp: Stamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
        let (written, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (written, changed) = (status.st_mtim, status.st_ctim)
        #endif
        return Stamp(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            number: UInt64(truncatingIfNeeded: status.st_ino),
            size: Int64(status.st_size),
            written: .seconds(written.tv_sec) + .nanoseconds(written.tv_nsec),
            changed: .seconds(changed.tv_sec) + .nanoseconds(changed.tv_nsec)
        )
    }

    fileprivate struct Stamp: Sendable, Hashable {
        let device, number: UInt64
        let size: Int64
        let written, changed: Duration
    }

    /// Reads a file in pieces, and returns its size and digest.
    private static func contents(
        of path: String,
        _ piece: (UnsafeRawBufferPointer) -> Void
    ) throws(QueueError) -> (Int64, String) {
        // The end of a pipe or a device may never come, nor the writer that an open pipe waits for.
        var status = stat()
        guard stat(path, &status) != 0 || [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            throw QueueError(.invalidRequest, "cannot read the file of the body, \(path): it is not a file")
        }
        guard let file = fopen(path, "rb") else {
            throw QueueError(.invalidRequest, "cannot read the file of the body, \(path): \(systemText(errno))")
        }
        defer { fclose(file) }
        let digest = Digest()
        var size: Int64 = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { break }
            size += Int64(count)
            buffer.withUnsafeBytes { bytes in
                let bytes = UnsafeRawBufferPointer(rebasing: bytes[..<count])
                digest.update(bytes)
                piece(bytes)
            }
        }
        guard ferror(file) == 0 else {
            throw QueueError(.invalidRequest, "cannot read the file of the body, \(path): \(systemText(errno))")
        }
        return (size, digest.finish())
    }

    /// The path from the root without links; nil: nothing is there.
    static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

/// The file of a claim's body, which must be the one that was enqueued whenever it is sent.
///
/// It is read before the first attempt, and before a later one if its stamp is another one by then.
final class CheckedFile: Sendable {
    private let file: FileReference
    private let state = Locked(State())

    private struct State {
        var stamp: FileReference.Stamp?
        var failure: QueueError?
    }

    init(_ file: FileReference) { self.file = file }

    /// Why the last check failed; nil: it did not.
    var failure: QueueError? { state.withLock(\.failure) }

    /// Checks the file.
    func check() async throws(QueueError) {
        do throws(QueueError) {
            // Before it is read: a write during that makes another one.
            let stamp = file.stamp
            guard stamp == nil || stamp != state.withLock(\.stamp) else { return }
            try await blocking { [file] () throws(QueueError) in try file.check() }
            state.withLock { $0 = State(stamp: stamp) }
        } catch {
            state.withLock { $0 = State(failure: error) }
            throw error
        }
    }
}

/// The system's description of an error number.
func systemText(_ code: Int32) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }

/// A computation of SHA-256, by the system's library.
private final class Digest {
    #if canImport(CommonCrypto)
    private var context = CC_SHA256_CTX()

    init() { CC_SHA256_Init(&context) }

    func update(_ bytes: UnsafeRawBufferPointer) { CC_SHA256_Update(&context, bytes.baseAddress, CC_LONG(bytes.count)) }

    private func end(_ bytes: inout [UInt8]) { CC_SHA256_Final(&bytes, &context) }
    #else
    private let context = EVP_MD_CTX_new()

    init() { EVP_DigestInit_ex(context, EVP_sha256(), nil) }

    deinit { EVP_MD_CTX_free(context) }

    func update(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

    private func end(_ bytes: inout [UInt8]) { EVP_DigestFinal_ex(context, &bytes, nil) }
    #endif

    func finish() -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        end(&bytes)
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
