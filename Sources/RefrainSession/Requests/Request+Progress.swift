import RefrainCore

extension Request {
    /// Adds a handler of the progress of the request's body, which restarts at zero for each attempt.
    ///
    /// Add it before the request starts. It is called in order, on any thread, and must return quickly, because the
    /// transfer waits for it.
    @discardableResult
    public func uploadProgress(_ handler: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        state.withLock { $0.addHandler { $0.upload.append(handler) } }
        return self
    }

    /// Adds a handler of the progress of the response's body.
    ///
    /// It restarts for each attempt; a resumed download continues.
    ///
    /// Add it before the request starts. It is called in order, on any thread, and must return quickly, because the
    /// transfer waits for it.
    @discardableResult
    public func downloadProgress(_ handler: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        state.withLock { $0.addHandler { $0.download.append(handler) } }
        return self
    }

    /// The progress of the request's body, if it is observed.
    public var uploadProgress: TransferProgress { state.withLock { $0.cold?.uploadProgress } ?? .none }
    /// The progress of the response's body, if it is observed.
    public var downloadProgress: TransferProgress { state.withLock { $0.cold?.downloadProgress } ?? .none }

    /// Whether progress, or the head of a response, is observed.
    var watchesBytes: Bool {
        self is UploadRequest || state.withLock { $0.watchesBytes }
    }
    /// Whether an attempt has no adapters, no gate that is shut, no limit, and no bytes to count.
    ///
    /// Not inlined: the frame of each request in flight would have room for a copy of the limit.
    @inline(never)
    func needsTransportAlone(for request: HTTPRequest, in pipeline: RequestPipeline) -> Bool {
        guard pipeline.throttle == nil, request.download == nil, interceptors.adapters.isEmpty,
            !(self is UploadRequest)
        else { return false }
        return state.withLock { $0.letsPass && !$0.watchesBytes }
    }
    var watchesUpload: Bool { self is UploadRequest || state.withLock { $0.cold?.handlers.upload.isEmpty == false } }
    var watchesDownload: Bool { state.withLock { $0.cold?.handlers.download.isEmpty == false } }

    var watchesHeads: Bool { state.withLock { $0.cold?.handlers.heads.isEmpty == false } }

    func note(uploaded progress: TransferProgress) {
        let handlers = state.withLock { state in
            state.withColdState { cold in
                cold.uploadProgress = progress
                return cold.handlers.upload
            }
        }
        for handler in handlers { handler(progress) }
    }

    func note(downloaded progress: TransferProgress) {
        let handlers = state.withLock { state in
            state.withColdState { cold in
                cold.downloadProgress = progress
                return cold.handlers.download
            }
        }
        for handler in handlers { handler(progress) }
    }
}

extension Request.TransferProgress {
    /// The progress of a transfer that is not observed.
    fileprivate static let none = Request.TransferProgress(completed: 0, total: nil)
}

extension Request {
    /// How far a transfer has come.
    public struct TransferProgress: Hashable, Sendable {
        /// The number of bytes transferred in this attempt.
        public var completed: Int64
        /// The total number of bytes; nil if unknown.
        public var total: Int64?

        /// Describes a moment of a transfer.
        public init(completed: Int64, total: Int64?) {
            self.completed = completed
            self.total = total
        }

        /// The completed fraction, 0 … 1; nil if the total is unknown.
        ///
        /// It is 1 if there is nothing to transfer.
        public var fractionCompleted: Double? {
            guard let total else { return nil }
            return total > 0 ? min(1, Double(completed) / Double(total)) : 1
        }
    }
}
