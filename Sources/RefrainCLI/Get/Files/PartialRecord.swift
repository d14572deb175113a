// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The record of a partial file: its source, and the proof that the rest belongs to it.
///
/// A small JSON file, written before the first byte of the content and removed before the first byte of another one.
/// The number of bytes is the size of the partial file, also after `kill -9`. A crash of the
/// system can leave a file whose last pages were never written, so after another boot only ``synced`` bytes count.
struct PartialRecord: Codable, Equatable {
    /// The URL of the command line or the list, without user, password and signature.
    var url: String
    /// The URL that was requested, after redirects.
    var requested: String
    /// The URL that answered.
    var answered: String
    /// The value of `If-Range`.
    var validator: String
    /// The length of the whole body, if known.
    var total: Int64?
    /// The fields that describe the content, as pairs.
    var fields: [[String]]
    /// The boot of the system in which the bytes were written.
    var boot: String
    /// How many bytes are known to be on the disk.
    var synced: Int64
    /// The first byte of each segment and the byte after it, if the content is fetched in segments; their positions are
    /// in a ``SegmentTable``.
    var segments: [[Int64]]?

    init(url: String, _ checkpoint: Download.Checkpoint) {
        self.url = url
        requested = SanitizedURL.text(checkpoint.requestedURL)
        answered = SanitizedURL.text(checkpoint.answeringURL)
        validator = checkpoint.validator
        total = checkpoint.total
        fields = checkpoint.fields.map { [$0.name, $0.value] }
        boot = Self.currentBoot
        synced = 0
    }

    /// The checkpoint for a number of bytes; nil if the record is invalid.
    func checkpoint(offset: Int64) -> Download.Checkpoint? {
        guard fields.allSatisfy({ $0.count == 2 }) else { return nil }
        return Download.Checkpoint(
            offset: offset,
            total: total,
            validator: validator,
            requestedURL: requested,
            answeringURL: answered,
            fields: HTTPHeaders(fields.map { ($0[0], $0[1]) })
        )
    }

    /// Whether it is of what a URL without a signature names; an earlier version kept the signature.
    func isOf(_ url: String) -> Bool { self.url == url || SignedURL.withoutSignature(self.url) == url }

    /// The bounds of the segments; nil if they are invalid.
    var bounds: [Range<Int64>]? {
        guard let segments, let total, segments.count < 10_000 else { return nil }
        var end: Int64 = 0
        var bounds: [Range<Int64>] = []
        for pair in segments {
            guard pair.count == 2, pair[0] == end, pair[1] > end else { return nil }
            end = pair[1]
            bounds.append(pair[0]..<pair[1])
        }
        return end == total ? bounds : nil
    }

    /// Reads a record; nil if it is missing or invalid.
    static func read(_ path: String) -> PartialRecord? {
        guard let bytes = try? Input(path: path).rest(), bytes.count < 1 << 20 else { return nil }
        return try? JSONDecoder().decode(PartialRecord.self, from: Data(bytes))
    }

    /// Writes the record atomically.
    func write(_ path: String) throws(SystemError) {
        let new = path + ".new"
        let members: [(String, JSON)] = [
            ("url", .string(url)), ("requested", .string(requested)), ("answered", .string(answered)),
            ("validator", .string(validator)), ("total", .optional(total) { .integer($0) }),
            ("fields", .array(fields.map { .array($0.map(JSON.string)) })), ("boot", .string(boot)),
            ("synced", .integer(synced)),
            ("segments", .optional(segments) { .array($0.map { .array($0.map(JSON.integer)) }) }),
        ]
        let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError(what: "cannot write \(new)", code: errno) }
        let line = JSON.object(members).line
        let count = line.withUnsafeBytes { systemWriteAll(descriptor, $0) }
        let failure = errno
        close(descriptor)
        guard count, rename(new, path) == 0 else {
            let code = count ? errno : failure
            unlink(new)
            throw SystemError(what: "cannot write \(path)", code: code)
        }
    }

    /// The identifier of the current boot of the system.
    static let currentBoot: String = {
        guard let bytes = try? Input(path: "/proc/sys/kernel/random/boot_id").rest() else { return "" }
        return String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
    }()
}
