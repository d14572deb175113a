internal import CurlShim

/// Undoes the gzip or deflate of a body as it arrives, and knows whether it has come to its end.
///
/// libcurl could undo them too, and brotli and zstd besides, but takes a compressed body that stops in the middle for a
/// whole one, so that a response cut short would pass for a success (rule R10).
final class ContentDecoder {
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

    /// Nil for what cannot be undone.
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
    func decode(_ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool) throws(Failure) {
        var rest = bytes.bindMemory(to: UInt8.self)
        hasBegun = hasBegun || !rest.isEmpty
        // Enough for four buffers of libcurl's that are compressed to a quarter; on the stack, so it costs nothing.
        let failure = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { room -> Failure? in
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
