internal import RefrainCore

// The sides of tasks, which wait.

extension ByteChannel {
    // MARK: A task that writes

    /// Writes a chunk, and waits until there is room for another one.
    ///
    /// - Returns: false if there is no reader any longer, or the task is cancelled.
    package func send(_ chunk: HTTPBody.Chunk) async -> Bool {
        await withTaskCancellationHandler {
            await resumption { (continuation: Writer) in
                let (wakeup, goesOn) = state.withLock { state -> (Wakeup, Bool?) in
                    guard !state.isClosed, state.end == nil, !Task.isCancelled else { return (Wakeup(), false) }
                    state.add(chunk)
                    let wakeup = state.takeWakeup()
                    guard state.held >= highWater else { return (wakeup, true) }
                    state.writer = continuation
                    return (wakeup, nil)
                }
                wakeup.carryOut()
                if let goesOn { continuation.resume(returning: goesOn) }
            }
        } onCancel: {
            state.withLock { $0.takeWriter() }?.resume(returning: false)
        }
    }

    // MARK: A task that reads

    /// The next chunk, or nil at the end, where that is known already; `resume` is called where the thread that writes
    /// waits for room.
    package func ready(resume: () -> Void = {}) -> Result<HTTPBody.Chunk?, HTTPError>? {
        let taken = state.withLock { takeReady(&$0) }
        taken.tellWriter(resume)
        return taken.result
    }

    /// The next chunk, nil at the end; `resume` is called where the thread that writes waits for room.
    package func next(resume: () -> Void = {}) async throws(HTTPError) -> HTTPBody.Chunk? {
        let result = await resumption { (continuation: Reader) in
            let taken = state.withLock { state in
                let taken = takeReady(&state)
                if taken.result == nil { state.reader = continuation }
                return taken
            }
            taken.tellWriter(resume)
            if let result = taken.result { continuation.resume(returning: result) }
        }
        return try result.get()
    }

    /// The next chunk, as ``next(resume:)``; `onCancel`, called where the task is cancelled, has to end the bytes.
    package func next(
        resume: () -> Void = {},
        onCancel: @Sendable () -> Void
    ) async throws(HTTPError) -> HTTPBody.Chunk? {
        // What has arrived needs neither a wait nor a handler that would end one.
        if !Task.isCancelled, let ready = ready(resume: resume) { return try ready.get() }
        let result: Result<HTTPBody.Chunk?, HTTPError> = await withTaskCancellationHandler {
            do throws(HTTPError) { return .success(try await next(resume: resume)) } catch { return .failure(error) }
        } onCancel: {
            onCancel()
        }
        return try result.get()
    }

    /// Gives everything to a consumer: first what is held, here, and then what arrives, on the thread that writes.
    ///
    /// - Returns: at the end, or when the consumer has taken a piece of what was held no longer.
    package func drain(_ consumer: @escaping ChunkSource.ByteConsumer, resume: () -> Void) async throws(HTTPError) {
        while true {
            let result = await resumption { (continuation: Reader) in
                let (ready, mustResume) = state.withLock { state -> (Result<HTTPBody.Chunk?, HTTPError>?, Bool) in
                    if let chunk = state.popFirst() { return (.success(chunk), false) }
                    if let end = state.end { return (end.map { nil }, false) }
                    (state.reader, state.consumer) = (continuation, consumer)
                    return (nil, state.takeSource())
                }
                if mustResume { resume() }
                if let ready { continuation.resume(returning: ready) }
            }
            guard let chunk = try result.get(), chunk.withUnsafeBytes(consumer) else { return }
        }
    }

    /// What a reader gets without waiting, if anything, and the writer that may go on.
    private struct Taken {
        var result: Result<HTTPBody.Chunk?, HTTPError>?
        var mustResume = false
        var writer: Writer?

        func tellWriter(_ resume: () -> Void) {
            if mustResume { resume() }
            writer?.resume(returning: true)
        }
    }

    private func takeReady(_ state: inout State) -> Taken {
        guard let chunk = state.popFirst() else { return Taken(result: state.end.map { $0.map { nil } }) }
        guard state.held <= lowWater else { return Taken(result: .success(chunk)) }
        return Taken(result: .success(chunk), mustResume: state.takeSource(), writer: state.takeWriter())
    }
}
