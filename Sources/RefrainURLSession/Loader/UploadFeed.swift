internal import Foundation
internal import RefrainCore
internal import RefrainHTTP

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Why the body of a request could not be had.
struct UploadFailure: Error {
    var code: HTTPError.Code
    var message: String
    var underlyingError: (any Error)?
}

/// Carries the chunks of a stream from the task that pulls them to URLSession.
final class UploadFeed: Sendable {
    /// What the source of the body does.
    enum Source: Equatable {
        /// It was not asked yet.
        case none
        /// It was asked for a chunk, or for its end, and has not answered.
        case isAwaited
        /// It has answered, at this moment for the last time.
        case deliveredLast(ContinuousClock.Instant)
    }

    let pair: StreamPair
    private let work: Task<Void, Never>
    private let sourceState: Locked<Source>

    /// What the source of the body does now.
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
                // Nobody wants the rest; whoever has cancelled says why.
            } catch let error as UploadFailure {
                onFailure(error)
            } catch let error as LocalFileError {
                onFailure(UploadFailure(code: error.code, message: "\(error)", underlyingError: error))
            } catch {
                let message = "the source of the body failed: \(error)"
                onFailure(UploadFailure(code: .callerFailed, message: message, underlyingError: error))
            }
        }
    }

    /// Stops to feed; the body is not ended, so that no server takes it for whole.
    func abort() {
        work.cancel()
        pair.abort()
    }

    /// Lets go of the streams, when URLSession has.
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
            // The last chunk waits for the end of the stream: a request with a wrong length is never complete.
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

extension UploadFeed {
    /// Makes the task for a request, and what feeds it where its body is a stream.
    static func makeTask(
        for request: HTTPRequest,
        in session: URLSession,
        onFailure: @escaping @Sendable (UploadFailure) -> Void
    ) throws(HTTPError) -> (URLSessionTask, UploadFeed?) {
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
            // Opened here for an error that says what is wrong with it; URLSession opens it for itself.
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
                // FoundationNetworking would send such a body in chunks all the same.
                #if canImport(Darwin)
                theirs.setValue("\(length)", forHTTPHeaderField: "Content-Length")
                #endif
            }
            let feed = UploadFeed(request.body, onFailure: onFailure)
            theirs.httpBodyStream = feed.pair.input
            return (session.dataTask(with: theirs), feed)
        }
    }
}

extension URLRequest {
    /// The method, the URL and the fields of a request.
    fileprivate init(head request: HTTPRequest) {
        self.init(url: request.url)
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
