public import Dispatch

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Request {
    /// The state of the request.
    public var state: State { currentState }

    /// Sends a user and a password with the request, by Basic authentication.
    ///
    /// They are sent at once and not when a server asks for them; other methods of authentication have interceptors.
    /// Call it before the request starts; later it has no effect.
    @discardableResult
    public func authenticate(username: String, password: String) -> Self {
        beforeStart { $0.headers.add(.authorization(username: username, password: password)) }
        return self
    }

    /// The number of bytes of a transfer, as Alamofire's progress names them.
    public struct Progress: Hashable, Sendable {
        /// The number of bytes that were transferred.
        public let completedUnitCount: Int64
        /// The number of all bytes; -1 if it is unknown.
        public let totalUnitCount: Int64
        /// The completed fraction, 0 … 1; 0 if the number of all bytes is unknown.
        public let fractionCompleted: Double

        init(_ progress: Request.TransferProgress) {
            completedUnitCount = progress.completed
            totalUnitCount = progress.total ?? -1
            fractionCompleted = progress.fractionCompleted ?? 0
        }

        /// Whether all bytes were transferred.
        public var isFinished: Bool { completedUnitCount == totalUnitCount }
    }

    /// Adds a handler of the progress of the request's body, called on a queue.
    @preconcurrency
    @discardableResult
    public func uploadProgress(queue: DispatchQueue, closure: @escaping @Sendable (Progress) -> Void) -> Self {
        completingAfterHandlers(on: queue)
        return uploadProgress { (progress: Request.TransferProgress) in queue.async { closure(Progress(progress)) } }
    }

    /// Adds a handler of the progress of the response's body, called on a queue.
    @preconcurrency
    @discardableResult
    public func downloadProgress(queue: DispatchQueue, closure: @escaping @Sendable (Progress) -> Void) -> Self {
        completingAfterHandlers(on: queue)
        return downloadProgress { (progress: Request.TransferProgress) in queue.async { closure(Progress(progress)) } }
    }

    /// Has completions wait for the handlers on the session's queue; another queue may be blocked until one is called.
    private func completingAfterHandlers(on queue: DispatchQueue) {
        guard queue === Session.callbackQueue else { return }
        whenEnded(isFirst: true) { await withCheckedContinuation { done in queue.async { done.resume() } } }
    }
}

extension UploadRequest {
    /// What an upload sends, under Alamofire's names.
    public enum Uploadable: Sendable {
        /// Bytes in memory.
        case data(Data)
        /// A stream: a file, or a form of more than its threshold, which no file holds as a whole.
        case stream(HTTPBody)
    }

    /// What is sent; nil if the request could not be made.
    public var uploadable: Uploadable? {
        guard let body = request?.body else { return nil }
        return body.dataInMemory.map { .data($0) } ?? .stream(body)
    }
}
