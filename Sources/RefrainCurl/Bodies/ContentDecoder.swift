// SPDX-License-Identifier: Apache-2.0
internal import CurlShim

/// Decodes a body as it arrives, and reports whether its codings are complete.
///
/// libcurl could decode it too, also brotli and zstd, but accepts a truncated compressed body as complete, so that a
/// truncated response would be a success (rule R10).
final class ContentDecoder {
    /// In the order of decoding: the coding that was applied last is decoded first.
    private let layers: [DecodingLayer]
    /// The bytes of the body so far, and the output of all layers except the last.
    private var (received, between) = (0, 0)

    /// Returns nil for a coding that cannot be decoded.
    init?(_ coding: ContentCoding) {
        let codings = coding.layers
        layers = codings.reversed().compactMap { DecodingLayer($0) }
        guard !layers.isEmpty, layers.count == codings.count else { return nil }
    }

    /// Whether the content has reached the end that its codings mark; an empty body is complete.
    var isComplete: Bool { layers.allSatisfy(\.isComplete) }

    /// Passes the decoded bytes to `take` in pieces; `take` returns false to stop.
    func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(DecodingLayer.Failure) {
        received += bytes.count
        try decode(bytes, by: layers[...], take)
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer,
        by layers: ArraySlice<DecodingLayer>,
        _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(DecodingLayer.Failure) {
        guard let layer = layers.first else { return }
        guard layers.count > 1 else { return try layer.decode(bytes, take) }
        var failure: DecodingLayer.Failure?
        do throws(DecodingLayer.Failure) {
            try layer.decode(bytes, roomFor: Self.pieceBetween) { piece in
                between += piece.count
                do throws(DecodingLayer.Failure) {
                    guard between <= Self.freeBetween + Self.maximumRatioBetween * received else {
                        throw .malformed("under one coding there is another one, of more than four times the size")
                    }
                    try decode(piece, by: layers.dropFirst(), take)
                    return true
                } catch {
                    failure = error
                    return false
                }
            }
        } catch {
            throw failure ?? error
        }
    }

    /// The size of a piece between two codings; small, as there are up to four such pieces on the stack.
    private static let pieceBetween = 8192
    /// The limit of the output between two codings: this many bytes, plus this many times the bytes received.
    ///
    /// The limit of the body bounds only the final output, to which padding and empty members add nothing, and the
    /// output that a slow reader has not read stays in memory. Compressed bytes hardly ever compress to a quarter.
    private static let (freeBetween, maximumRatioBetween) = (64 << 10, 4)
}

/// Decodes one gzip or deflate coding.
final class DecodingLayer {
    enum Failure: Error {
        /// The content is malformed, for the reason given.
        case malformed(String)
        /// The consumer of the content has stopped.
        case stopped
    }

    private let coding: ContentCoding
    private let inflater: OpaquePointer
    private var hasBegun = false
    private var isAtEnd = false

    /// Returns nil unless this is a single coding that can be decoded.
    init?(_ coding: ContentCoding) {
        guard coding == .gzip || coding == .deflate else { return nil }
        guard let inflater = refrain_inflater_make(coding == .gzip ? 1 : 0) else { return nil }
        self.coding = coding
        self.inflater = inflater
    }

    deinit { refrain_inflater_free(inflater) }

    /// Whether the content has reached the end that its coding marks; an empty body is complete.
    var isComplete: Bool { isAtEnd || !hasBegun }

    /// Passes the decoded bytes to `take` in pieces; `take` returns false to stop.
    ///
    /// - Parameter size: the size of a piece in bytes. The default is enough for four buffers of libcurl's that are
    ///   compressed to a quarter.
    func decode(
        _ bytes: UnsafeRawBufferPointer,
        roomFor size: Int = 65_536,
        _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(Failure) {
        var rest = bytes.bindMemory(to: UInt8.self)
        hasBegun = hasBegun || !rest.isEmpty
        // On the stack, without an allocation.
        let failure = withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { room -> Failure? in
            while !rest.isEmpty || !isAtEnd {
                if isAtEnd {
                    // A gzip body may have several members (RFC 1952 §2.2); whatever else follows is padding.
                    guard coding == .gzip, rest.first == 0x1f else { return nil }
                    isAtEnd = false
                    guard refrain_inflater_restart(inflater) == 0 else { return malformed }
                }
                let output = room.bindMemory(to: UInt8.self)
                var (taken, made) = (rest.count, output.count)
                let result = refrain_inflater_run(inflater, rest.baseAddress, &taken, output.baseAddress, &made)
                if made > 0, !take(UnsafeRawBufferPointer(rebasing: room[..<made])) { return .stopped }
                guard result > 0 || result == 0 && (taken > 0 || made > 0 || rest.isEmpty) else { return malformed }
                isAtEnd = result == 1
                rest = UnsafeBufferPointer(rebasing: rest[taken...])
                // The output was not filled, so all input has been decoded.
                if rest.isEmpty, made < output.count { return nil }
            }
            return nil
        }
        if let failure { throw failure }
    }

    private var malformed: Failure { .malformed(String(cString: refrain_inflater_message(inflater))) }
}

/// Compression of whole bodies, for requests.
package enum Deflate {
    /// Returns bytes in zlib's format, which HTTP calls deflate (RFC 9110 §8.4.1.2).
    ///
    /// - Throws: `OutOfMemory`.
    package static func compress(_ bytes: [UInt8]) throws -> [UInt8] {
        var isComplete = false
        let compressed = [UInt8](unsafeUninitializedCapacity: refrain_deflate_bound(bytes.count)) { output, count in
            var produced = output.count
            guard let start = output.baseAddress,
                refrain_deflate(bytes, bytes.count, start, &produced) == 0
            else { return }
            (count, isComplete) = (produced, true)
        }
        guard isComplete else { throw OutOfMemory() }
        return compressed
    }

    /// The memory for the compression could not be allocated.
    package struct OutOfMemory: Error {}
}
