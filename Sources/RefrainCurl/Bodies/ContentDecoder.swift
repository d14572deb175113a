internal import CurlShim

/// Undoes the codings of a body as it arrives, and knows whether they have come to their end.
///
/// libcurl could undo them too, and brotli and zstd besides, but takes a compressed body that stops in the middle for a
/// whole one, so that a response cut short would pass for a success (rule R10).
final class ContentDecoder {
    /// The last coding that was applied is the first that is undone.
    private let layers: [DecodingLayer]
    /// The bytes of the body so far, and those that all codings but the last one to be undone have given.
    private var (received, between) = (0, 0)

    /// Nil for what cannot be undone.
    init?(_ coding: ContentCoding) {
        let codings = coding.layers
        layers = codings.reversed().compactMap { DecodingLayer($0) }
        guard !layers.isEmpty, layers.count == codings.count else { return nil }
    }

    /// Whether the content ended where its codings say that it ends; a body without a byte has none.
    var isComplete: Bool { layers.allSatisfy(\.isComplete) }

    /// Hands over what the bytes stand for, a piece at a time; false from `take` stops.
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
    /// What a coding may expand to that another one is under: so many bytes, and so many times what has arrived.
    ///
    /// The limit of the body bounds what comes out at the end, but padding and empty members come to nothing there,
    /// and what a slow reader leaves is kept in memory. Compressed bytes are hardly ever compressed to a quarter.
    private static let (freeBetween, maximumRatioBetween) = (64 << 10, 4)
}

/// Undoes one gzip or deflate.
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

    /// Nil for what is no single coding that can be undone.
    init?(_ coding: ContentCoding) {
        guard coding == .gzip || coding == .deflate else { return nil }
        guard let inflater = refrain_inflater_make(coding == .gzip ? 1 : 0) else { return nil }
        self.coding = coding
        self.inflater = inflater
    }

    deinit { refrain_inflater_free(inflater) }

    /// Whether the content ended where its coding says that it ends; a body without a byte has none.
    var isComplete: Bool { isAtEnd || !hasBegun }

    /// Hands over what the bytes stand for, a piece at a time; false from `take` stops.
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
        // On the stack, so it costs nothing.
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
                // With room to spare it has made all that can be made of what has come.
                if rest.isEmpty, made < output.count { return nil }
            }
            return nil
        }
        if let failure { throw failure }
    }

    private var malformed: Failure { .malformed(String(cString: refrain_inflater_message(inflater))) }
}
