internal import RefrainCore

extension Request {
    /// Is called with the progress of the request's body; each try begins anew at zero.
    ///
    /// Add it before the request starts. It is called in order, on any thread, and must return quickly: the transfer
    /// waits for it.
    @discardableResult
    public func uploadProgress(_ handler: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        state.withLock { $0.withRare { $0.uploadHandlers.append(handler) } }
        return self
    }

    /// Is called with the progress of the response's body; each try begins anew, a resumed download where it stopped.
    ///
    /// Add it before the request starts. It is called in order, on any thread, and must return quickly: the transfer
    /// waits for it.
    @discardableResult
    public func downloadProgress(_ handler: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        state.withLock { $0.withRare { $0.downloadHandlers.append(handler) } }
        return self
    }

    /// How far the request's body has gone, where its progress is watched.
    public var uploadProgress: TransferProgress { state.withLock { $0.rare?.uploadProgress } ?? .none }
    /// How far the response's body has come, where its progress is watched.
    public var downloadProgress: TransferProgress { state.withLock { $0.rare?.downloadProgress } ?? .none }

    /// Whether anybody wants to know how far bodies have come.
    var watchesBytes: Bool {
        self is UploadRequest || state.withLock { $0.watchesBytes }
    }
    var watchesUpload: Bool { self is UploadRequest || state.withLock { $0.rare?.uploadHandlers.isEmpty == false } }
    var watchesDownload: Bool { state.withLock { $0.rare?.downloadHandlers.isEmpty == false } }

    func note(uploaded progress: TransferProgress) {
        let handlers = state.withLock { state in
            state.withRare { rare in
                rare.uploadProgress = progress
                return rare.uploadHandlers
            }
        }
        for handler in handlers { handler(progress) }
    }

    func note(downloaded progress: TransferProgress) {
        let handlers = state.withLock { state in
            state.withRare { rare in
                rare.downloadProgress = progress
                return rare.downloadHandlers
            }
        }
        for handler in handlers { handler(progress) }
    }
}

extension TransferProgress {
    /// The progress of a transfer that nobody watches.
    fileprivate static let none = TransferProgress(completed: 0, total: nil)
}
