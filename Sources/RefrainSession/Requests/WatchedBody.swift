// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension HTTPBody {
    /// This body, in pieces that wait at the request's gate and are counted as they are taken.
    ///
    /// Each reading begins at zero. The original is what retries are judged by, so a body that can be read only once
    /// stays one.
    func watched(by owner: Request) throws -> HTTPBody {
        let (makeSource, length) = try pieces()
        // Weak: the request keeps its response, which names the request that was sent, which has this body.
        let owner = WeakRequest(owner)
        let makeCounted: @Sendable () throws -> ChunkSource = {
            let source = try makeSource()
            // nonisolated(unsafe): a source has one reader at a time, which this count belongs to.
            nonisolated(unsafe) var completed: Int64 = 0
            return ChunkSource {
                await owner.request?.gate.pass()
                try Task.checkCancellation()
                guard let chunk = try await source.next() else { return nil }
                completed += Int64(chunk.count)
                owner.request?.note(uploaded: Request.TransferProgress(completed: completed, total: length))
                return chunk
            }
        }
        // Later stages check whether the body is replayable, and would restart it otherwise.
        guard case .oneShot = storage else {
            return HTTPBody(.restartable(length: length, makeCounted), contentType: contentType)
        }
        return HTTPBody(.oneShot(OneShotSource(length: length, try makeCounted())), contentType: contentType)
    }

    /// The body in pieces that are small enough to count, and its length as it is now.
    private func pieces() throws -> (@Sendable () throws -> ChunkSource, Int64?) {
        switch storage {
        case .bytes(let bytes):
            return ({ ChunkSource(Slices(bytes: bytes)) }, Int64(bytes.count))
        case .file(let path):
            // The opened file is sent, so that its length does not change.
            let opened = try FileChunks(path: path)
            let first = Locked<FileChunks?>(opened)
            return ({ try (first.withLock { $0.take() } ?? FileChunks(path: path)).source }, opened.length)
        case .restartable, .oneShot:
            return ({ ChunkSource(self) }, length)
        }
    }
}

/// Bytes in slices of 64 KiB.
private struct Slices: AsyncSequence, Sendable {
    let bytes: Data

    struct Iterator: AsyncIteratorProtocol {
        var rest: Data

        mutating func next() async -> [UInt8]? {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(65_536) }
            return Array(rest.prefix(65_536))
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes) }
}
