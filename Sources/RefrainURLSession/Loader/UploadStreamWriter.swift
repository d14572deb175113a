// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Foundation
internal import RefrainCore
internal import RefrainHTTP

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Why the body of a request could not be read.
struct UploadFailure: Error {
    var code: HTTPError.Code
    var message: String
    var underlyingError: (any Error)?
}

/// Passes the chunks of a stream from the task that reads them to URLSession.
final class UploadStreamWriter: Sendable {
    /// The state of the body source.
    enum Source: Equatable {
        /// No chunk was requested yet.
        case none
        /// A chunk or the end was requested and has not arrived.
        case isAwaited
        /// A chunk or the end arrived, the last one at this instant.
        case deliveredLast(ContinuousClock.Instant)
    }

    let pair: StreamPair
    private let work: Task<Void, Never>
    private let sourceState: Locked<Source>

    /// The state of the body source.
    var source: Source { sourceState.withLock { $0 } }

    private init(_ body: HTTPBody, onFailure: @escaping @Sendable (UploadFailure) -> Void) {
        let pair = StreamPair()
        let source = Locked(Source.none)
        self.pair = pair
        sourceState = source
        work = Task {
            guard await pair.opened() else { return }
            do {
                try await Self.pour(body, into: pair, noting: source)
                pair.finish()
            } catch is CancellationError {
                // The rest of the body is not needed; the error of the exchange is the cause.
            } catch let error as UploadFailure {
                onFailure(error)
            } catch let error as HTTPBody.FileError {
                onFailure(UploadFailure(code: error.code, message: "\(error)", underlyingError: error))
            } catch {
                let message = "the source of the body failed: \(error)"
                onFailure(UploadFailure(code: .callerFailed, message: message, underlyingError: error))
            }
        }
    }

    /// Stops writing without ending the body, so that no server takes it for complete.
    func abort() {
        work.cancel()
        pair.abort()
    }

    /// Closes the streams after URLSession has closed its end.
    func close() {
        work.cancel()
        pair.close()
    }

    private static func pour(_ body: HTTPBody, into pair: StreamPair, noting source: Locked<Source>) async throws {
        var delivered: Int64 = 0
        var held: HTTPBody.Chunk?
        var chunks = body.makeAsyncIterator()
        while let chunk = try await next(of: &chunks, noting: source) {
            guard !chunk.isEmpty else { continue }
            delivered += Int64(chunk.count)
            if let length = body.length, delivered > length { throw wrongLength(delivered, length, " or more") }
            if let ready = held.take() { try await write(ready, to: pair) }
            // The last chunk is held until the stream ends, so that a request of the wrong length is never complete.
            if delivered == body.length { held = chunk } else { try await write(chunk, to: pair) }
        }
        if let length = body.length, delivered != length { throw wrongLength(delivered, length, "") }
        if let ready = held { try await write(ready, to: pair) }
    }

    private static func next(
        of chunks: inout HTTPBody.Iterator,
        noting source: Locked<Source>
    ) async throws -> HTTPBody.Chunk? {
        source.withLock { $0 = .isAwaited }
        defer { source.withLock { $0 = .deliveredLast(.now) } }
        return try await chunks.next()
    }

    private static func write(_ chunk: HTTPBody.Chunk, to pair: StreamPair) async throws {
        guard await pair.write(chunk) else { throw CancellationError() }
    }

    private static func wrongLength(_ delivered: Int64, _ stated: Int64, _ more: String) -> UploadFailure {
        let message = "the body's length is \(delivered) bytes\(more), but \(stated) were stated"
        return UploadFailure(code: .invalidRequest, message: message)
    }
}

extension UploadStreamWriter {
    /// Makes the task of a request, and the writer of its body if that is a stream.
    static func makeTask(
        for request: HTTPRequest,
        in session: URLSession,
        onFailure: @escaping @Sendable (UploadFailure) -> Void
    ) throws(HTTPError) -> (URLSessionTask, UploadStreamWriter?) {
        func refuse(_ code: HTTPError.Code, _ message: String, _ underlying: (any Error)? = nil) -> HTTPError {
            HTTPError(code, request: request, underlyingError: underlying, message: message, bytesSent: 0)
        }
        if !request.body.isEmpty, request.method == .get || request.method == .head {
            throw refuse(.invalidRequest, "URLSession sends no \(request.method) with a body")
        }
        var theirs = URLRequest(head: request)
        switch request.body.storage {
        case .bytes(let bytes):
            if !bytes.isEmpty { theirs.httpBody = bytes }
            return (session.dataTask(with: theirs), nil)
        case .file(let path):
            // Opened here for an error with its cause; URLSession opens the file itself.
            do {
                _ = try FileChunks(path: path)
            } catch {
                throw refuse(error.code, "\(error)", error)
            }
            return (session.uploadTask(with: theirs, fromFile: URL(fileURLWithPath: path)), nil)
        case .restartable, .oneShot:
            guard !request.body.isEmpty else { return (session.dataTask(with: theirs), nil) }
            if let length = request.body.length {
                guard length >= 0 else { throw refuse(.invalidRequest, "the body's length is negative") }
                // FoundationNetworking would send such a body chunked all the same.
                #if canImport(Darwin)
                theirs.setValue("\(length)", forHTTPHeaderField: "Content-Length")
                #endif
            }
            let writer = UploadStreamWriter(request.body, onFailure: onFailure)
            theirs.httpBodyStream = writer.pair.input
            return (session.dataTask(with: theirs), writer)
        }
    }
}

extension URLRequest {
    /// Makes a request with the method, URL and header fields.
    fileprivate init(head request: HTTPRequest) {
        self.init(url: URL(string: URLText.sent(request.url)) ?? request.url)
        httpMethod = request.method.rawValue
        add(request.headers)
        if let type = request.body.contentType, !request.headers.contains("Content-Type"),
            HTTPToken.isValidFieldValue(type)
        {
            setValue(type, forHTTPHeaderField: "Content-Type")
        }
    }
}

extension Optional {
    fileprivate mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}

/// A pair of streams: chunks are written to one, and URLSession reads the other.
final class StreamPair: @unchecked Sendable {
    // @unchecked Sendable: only URLSession uses `input`; the other end is used on `queue`, or has its own lock.

    #if canImport(Darwin)
    /// The stream that URLSession reads.
    let input: InputStream
    private let output: OutputStream
    /// The queue on which writing blocks while URLSession is slow.
    private let queue = DispatchQueue(label: "refrain-urlsession-upload")
    private let isAborted = Locked(false)

    init() {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: 65_536, inputStream: &input, outputStream: &output)
        self.input = input ?? InputStream(data: Data())
        self.output = output ?? OutputStream(toMemory: ())
    }

    /// Waits until reading begins; returns false if it never will.
    func opened() async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                output.open()
                continuation.resume(returning: true)
            }
        }
    }

    /// Writes a chunk; returns false if the reader has ended.
    func write(_ chunk: HTTPBody.Chunk) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: writeAll(chunk)) }
        }
    }

    private func writeAll(_ chunk: HTTPBody.Chunk) -> Bool {
        chunk.withUnsafeBytes { bytes in
            guard var next = bytes.bindMemory(to: UInt8.self).baseAddress else { return true }
            var left = bytes.count
            while left > 0 {
                guard !isAborted.withLock({ $0 }) else { return false }
                let count = output.write(next, maxLength: left)
                guard count > 0 else { return false }
                next += count
                left -= count
            }
            return true
        }
    }

    /// Ends the stream after all writes.
    func finish() { queue.async { [self] in output.close() } }

    /// Stops writing without ending the stream.
    func abort() { isAborted.withLock { $0 = true } }

    /// Closes the stream; a blocked write returns when the other end is closed.
    func close() {
        abort()
        input.close()
        queue.async { [self] in output.close() }
    }
    #else
    /// The stream that URLSession reads.
    let input: InputStream
    private let handover: ChunkHandover

    init() {
        handover = ChunkHandover()
        input = PipedInput(handover)
    }

    /// Waits until reading begins; returns false if it never will.
    func opened() async -> Bool { await handover.opened() }

    /// Writes a chunk; returns false if the reader has ended.
    func write(_ chunk: HTTPBody.Chunk) async -> Bool { await handover.write(chunk) }

    /// Ends the stream after all writes.
    func finish() { handover.finish() }

    /// Stops writing without ending the stream.
    func abort() { handover.abort() }

    /// Closes the stream.
    func close() { handover.abort() }
    #endif
}

#if !canImport(Darwin)
internal import Foundation
internal import RefrainCore
internal import RefrainHTTP

/// A stream of chunks that are written while it is read, for Foundation without bound stream pairs.
private final class PipedInput: InputStream {
    private let handover: ChunkHandover

    init(_ handover: ChunkHandover) {
        self.handover = handover
        super.init(data: Data())
    }

    override func open() { handover.open() }

    override func close() { handover.abort() }

    override var streamStatus: Stream.Status { handover.isOpen ? .open : .notOpen }

    /// True until the end was read, because FoundationNetworking interprets false as the end.
    override var hasBytesAvailable: Bool { handover.mayHaveMore }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        handover.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: maxLength))
    }
}

/// Passes chunks from a task to a thread that blocks until there is one.
///
/// FoundationNetworking reads on one queue for all its sessions, so a slow writer blocks all requests.
private final class ChunkHandover: Sendable {
    /// Holds one chunk at a time.
    private let channel = ByteChannel(highWater: 1, lowWater: 0)
    private let state = ConditionLock(State())

    private struct State {
        var isOpen = false
        var isAborted = false
        /// Whether there may be something to read since the last look.
        var isToldOfData = false
        var opener: CheckedContinuation<Bool, Never>?
    }

    init() { channel.onData { [weak self] in self?.tellReader() } }

    // MARK: The reader's side

    var isOpen: Bool { state.withLock { $0.isOpen } }

    var mayHaveMore: Bool { !channel.isDrained }

    func open() {
        let opener = state.withLock { state in
            state.isOpen = true
            defer { state.opener = nil }
            return state.opener
        }
        opener?.resume(returning: true)
    }

    /// Waits for bytes; returns 0 at the end, and -1 if the stream was aborted.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while !state.withLock({ $0.isAborted }) {
            if let count = channel.read(into: buffer, limit: { $0.held }) { return count }
            state.wait(after: { _ in }, until: { $0.isToldOfData || $0.isAborted })
            state.withLock { $0.isToldOfData = false }
        }
        return -1
    }

    private func tellReader() {
        state.withLock { $0.isToldOfData = true }
        state.signal()
    }

    // MARK: The writer's side

    /// Waits until the stream is opened; returns false if it never will be.
    func opened() async -> Bool {
        await withCheckedContinuation { continuation in
            let answer: Bool? = state.withLock { state in
                if state.isOpen || state.isAborted { return !state.isAborted }
                state.opener = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Writes a chunk, and waits until it was read; returns false if the reader has ended.
    func write(_ chunk: HTTPBody.Chunk) async -> Bool { await channel.send(chunk) }

    /// Ends the stream after all writes.
    func finish() { channel.finish() }

    /// Ends the stream for both sides, without an end that could be read.
    func abort() {
        let opener = state.withLock { state in
            state.isAborted = true
            defer { state.opener = nil }
            return state.opener
        }
        state.signal()
        channel.close()
        opener?.resume(returning: false)
    }
}
#endif
