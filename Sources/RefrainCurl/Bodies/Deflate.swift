internal import CurlShim

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

    /// There was no memory for the compression.
    package struct OutOfMemory: Error {}
}
