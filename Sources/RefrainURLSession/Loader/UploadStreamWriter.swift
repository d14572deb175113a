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
