extension HTTPBody {
    /// This body, in pieces that wait at the request's gate and are counted as they are taken.
    ///
    /// Each reading begins at zero. The original is what retries are judged by, so a body that can be read only once
    /// stays one.
    func watched(by owner: Request) throws -> HTTPBody {
        let (source, length) = try pieces()
        let owner = WeakRequest(owner)
        let watched = HTTPBody(
            .restartable(length: length) {
                let chunks = source()
                // nonisolated(unsafe): a source has one reader at a time, which these belong to.
                nonisolated(unsafe) var iterator = chunks.makeAsyncIterator()
                nonisolated(unsafe) var completed: Int64 = 0
                return ChunkSource {
                    await owner.request?.gate.pass()
                    try Task.checkCancellation()
                    guard let chunk = try await iterator.next() else { return nil }
                    completed += Int64(chunk.count)
                    owner.request?.note(uploaded: TransferProgress(completed: completed, total: length))
                    return chunk
                }
            },
            contentType: contentType
        )
        return watched
    }

    /// The body in pieces that are small enough to count, and its length as it is now.
    private func pieces() throws -> (@Sendable () -> HTTPBody, Int64?) {
        switch storage {
        case .bytes(let bytes):
            let sliced = HTTPBody.stream(length: Int64(bytes.count)) { Slices(bytes: bytes) }
            return ({ sliced }, Int64(bytes.count))
        case .file(let path):
            let length = try FileChunks(path: path).length
            return ({ self }, length)
        case .restartable, .oneShot:
            return ({ self }, length)
        }
    }
}

/// Bytes in slices of 64 KiB.
private struct Slices: AsyncSequence, Sendable {
    let bytes: [UInt8]

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<UInt8>

        mutating func next() async -> [UInt8]? {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(65_536) }
            return Array(rest.prefix(65_536))
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }
}
