internal import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The source of a request's body, read by the thread that drives the loop.
enum UploadSource {
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
    /// Opens the body of a transfer's request.
    init(_ transfer: Transfer) throws(HTTPError) {
        let body = transfer.request.body
        switch body.storage {
        case .bytes(let bytes):
            if bytes.isEmpty {
                self = .none
            } else {
                self = bytes.count <= EasyHandle.inlineLimit ? .inline(bytes) : .memory(bytes, offset: 0)
            }
        case .file(let path):
            do {
                self = .file(try FileChunks(path: path))
            } catch {
                throw transfer.failure(error.code, message: "\(error)", underlyingError: error)
            }
        case .restartable, .oneShot:
            if let length = body.length, length < 0 {
                throw transfer.failure(.invalidRequest, message: "the body's length is negative")
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

    /// Releases the body.
    func close() {
        if case .stream(let pipe) = self { pipe.close() }
    }
}
