// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
internal import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What is sent of a request's body: its source, and how far libcurl has read it.
struct Upload {
    /// Whether the request certainly has no body.
    let isAbsent: Bool
    private var source = UploadSource.none
    /// The bytes that libcurl has read.
    private(set) var taken: Int64 = 0
    /// Whether libcurl waits for the source, which has no data yet.
    private(set) var isPaused = false

    /// The maximum size of a body that is sent along with the head.
    static let inlineLimit = 16_384

    init(isAbsent: Bool) { self.isAbsent = isAbsent }

    /// Opens the body.
    mutating func open(_ body: HTTPBody) throws(UploadFailure) {
        if !isAbsent { source = try UploadSource(body) }
    }

    /// Releases the body.
    mutating func close() {
        if case .stream(let pipe) = source { pipe.close() }
        source = .none
    }

    /// How the body is sent.
    enum Shape {
        case none
        /// Along with the head.
        case inline(Data)
        /// After the head; nil for an unknown length.
        case streamed(length: Int64?)
    }

    var shape: Shape {
        switch source {
        case .none: .none
        case .inline(let bytes): .inline(bytes)
        case .memory, .file, .stream: .streamed(length: source.length)
        }
    }

    /// Whether it is sent along with the head, or there is none.
    var isInline: Bool { source.isInline }

    /// Whether libcurl has read the whole body.
    var isDone: Bool { source.isDone }

    /// Sets the closure that is called when a stream has data for the loop to read.
    func onData(_ wake: @escaping @Sendable () -> Void) {
        if case .stream(let pipe) = source { pipe.onData(wake) }
    }

    /// Fills the buffer and returns the number of bytes: 0 at the end, nil if none are available yet.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(UploadFailure) -> Int? {
        guard let count = try source.read(into: buffer) else {
            isPaused = true
            return nil
        }
        isPaused = false
        taken += Int64(count)
        return count
    }

    /// Lets libcurl read again.
    mutating func resume() { isPaused = false }

    /// Whether libcurl has not sent all of it.
    func isUnsent(_ easy: UnsafeMutableRawPointer) -> Bool {
        guard let length = source.length else { return !source.isDone }
        return refrain_get_offset(easy, CURLINFO_SIZE_UPLOAD_T) < length
    }
}

/// The source of a request's body, read by the thread that drives the loop.
private enum UploadSource {
    /// There is no body.
    case none
    /// A small body, which is sent along with the head.
    case inline(Data)
    /// A body in memory, and the number of bytes that libcurl has read.
    case memory(Data, offset: Int)
    case file(FileChunks)
    case stream(UploadPipe)
}

/// Why the body of a request could not be read.
struct UploadFailure: Error {
    var code: HTTPError.Code
    var message: String
    var underlyingError: (any Error)?
}

extension UploadSource {
    init(_ body: HTTPBody) throws(UploadFailure) {
        switch body.storage {
        case .bytes(let bytes):
            if bytes.isEmpty {
                self = .none
            } else {
                self = bytes.count <= Upload.inlineLimit ? .inline(bytes) : .memory(bytes, offset: 0)
            }
        case .file(let path):
            do {
                self = .file(try FileChunks(path: path))
            } catch {
                throw UploadFailure(code: error.code, message: "\(error)", underlyingError: error)
            }
        case .restartable, .oneShot:
            if let length = body.length, length < 0 {
                throw UploadFailure(code: .invalidRequest, message: "the body's length is negative")
            }
            self = body.isEmpty ? .none : .stream(UploadPipe(body))
        }
    }

    var length: Int64? {
        switch self {
        case .none: 0
        case .inline(let bytes), .memory(let bytes, _): Int64(bytes.count)
        case .file(let file): file.length
        case .stream(let pipe): pipe.length
        }
    }

    var isInline: Bool {
        switch self {
        case .none, .inline: true
        case .memory, .file, .stream: false
        }
    }

    /// Whether libcurl has read the whole body.
    var isDone: Bool {
        switch self {
        case .none, .inline: true
        case .memory(let bytes, let offset): offset == bytes.count
        case .file(let file): file.isAtEnd
        case .stream(let pipe): pipe.isDone
        }
    }

    /// Fills the buffer and returns the number of bytes: 0 at the end, nil if none are available yet.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(UploadFailure) -> Int? {
        switch self {
        case .none, .inline:
            return 0
        case .memory(let bytes, let offset):
            let count = min(buffer.count, bytes.count - offset)
            bytes.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
            }
            self = .memory(bytes, offset: offset + count)
            return count
        case .file(let file):
            guard let base = buffer.baseAddress else { return 0 }
            do {
                return try file.read(into: base, capacity: buffer.count)
            } catch {
                throw UploadFailure(code: error.code, message: "\(error)", underlyingError: error)
            }
        case .stream(let pipe):
            return try pipe.read(into: buffer)
        }
    }
}
