// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Sends requests, each with its own sink.
final class Fetcher: Sendable {
    private let settings: GetSettings
    /// The state of the run; nil: none is kept.
    private let state: ListState?
    /// The outputs of bodies that are written as they arrive, by path; the default is standard output.
    private let streams: [String: Output]
    /// The chain of each transport.
    private let chains: [any HTTPLoader]
    private let progress: Progress
    /// The places of a list's requests; nil: each worker has its place until its request has ended.
    private let places: Places?
    /// Keeps the pace; it stands in each chain.
    private let pacer: Pacer
    private let held: HeldRequests?
    /// Counts the sends of requests that have rows in the state.
    private let sends: SendCounter?
    private let folders: OutputFolders
    private let claimed = ClaimedPaths()
    /// Whether it was said that partial files are lost: once is enough for a list.
    private let hasSaidLoss = Locked(false)

    /// `streams` are the outputs that are not files, by their paths; `quota` is where other runs keep the pace, too.
    init(
        _ settings: GetSettings,
        streams: [String: Output],
        state: ListState?,
        quota: (any QuotaStore)?,
        progress: Progress
    ) {
        self.settings = settings
        self.state = state
        self.progress = progress
        self.streams = streams
        folders = if case .folder(let root) = settings.destination { OutputFolders(root) } else { OutputFolders("") }
        let budgets = settings.options.hasBudget ? Retry.Budgets { _ in CommandPolicy.budget() } : nil
        let retry = Retry(settings.options.policy, budgets: budgets)
        let places =
            settings.isAlone || settings.options.segments != nil ? nil : Places(settings.transports.concurrency)
        self.places = places
        let pacer = settings.options.pace.pacer(quota, maximumConcurrency: places?.count)
        self.pacer = pacer
        let sends = state.map { SendCounter($0) }
        self.sends = sends
        let held = places.map { _ in HeldRequests(settings.options.pace) }
        self.held = held
        let redirect = Redirect(maximumNumberOfRedirects: settings.options.maximumRedirects)
        chains = settings.transports.loaders.map { transport in
            var inner: any HTTPLoader = transport
            if settings.display.recordsHeads { inner = RecordResponses() --> inner }
            if let jar = settings.cookies.jar { inner = jar --> inner }
            if let places { inner = places.answers --> inner }
            inner = Resume() --> inner
            if let sends { inner = sends --> inner }
            if let places { inner = places --> inner }
            inner = pacer --> inner
            if let held { inner = held --> inner }
            if let places { inner = places.hosts(pacer) --> inner }
            var attempts: any HTTPLoader = retry --> inner
            if let schemes = settings.options.schemes { attempts = schemes --> attempts }
            return redirect --> attempts
        }
    }

    /// The executor of the jobs of a worker.
    ///
    /// Usually the thread of its transport, so that no other thread is woken. Not if a body is written to an output
    /// as it arrives, because a slow reader would block the thread.
    func executor(ofWorker worker: Int) -> (any TaskExecutor)? {
        guard settings.transports.loaders.count > 1, !settings.destination.hasStreams else { return nil }
        return settings.transports.loaders[worker % settings.transports.loaders.count].taskExecutor
    }

    /// Fetches one job after the other, until there is none.
    func fetchJobs(of board: RunBoard, by worker: Int) async {
        let loader = chains[worker % chains.count]
        var ending: RunBoard.Ending?
        while let (job, number) = board.next(after: ending, isCancelled: Task.isCancelled) {
            if let known = outcomeWithoutRequest(job, number: number) {
                if known.isSkipped { progress.skip() } else { progress.end(nil, known) }
                ending = .outcome(known)
            } else {
                let ticket = places.map { _ in Places.Ticket(board) }
                ending = board.ending(of: await fetch(job, number: number, by: loader, ticket, board))
            }
        }
    }

    /// The sends of requests that are under way, which are not in the state yet; each is returned once.
    func takeSends() -> [SendCounter.Sends] { sends?.take() ?? [] }

    /// The requests that wait for their next attempts, whose rows must say so at once; each is returned once.
    func takeRests() -> [SendCounter.Sends] { sends?.takeRests() ?? [] }

    /// Sends one request, and delivers the content of a successful response.
    private func fetch(
        _ job: FetchJob,
        number index: Int,
        by loader: any HTTPLoader,
        _ ticket: Places.Ticket?,
        _ board: RunBoard
    ) async -> FetchOutcome {
        let clock = ContinuousClock()
        let start = clock.now
        let began = WallClock.Instant.now
        let destination = settings.destination.destination(of: index)
        var request: HTTPRequest?
        var target: FetchTarget?
        var result: HTTPResult
        var transfer: TransferProgress?
        let log = settings.display.isVerbose ? VerboseLog(progress.line, collects: !settings.isAlone) : nil
        defer { log?.flush() }
        var begun: Double?
        let counted = job.entry.flatMap { sends?.begin($0, writesAtOnce: settings.mustNotRepeat(job)) }
        do throws(HTTPError) {
            var made = try prepared(job, destination)
            if settings.display.recordsHeads {
                made[option: ResponseLogOption.self] = ResponseLog()
                made.recordsConnection = settings.display.writeOut != nil
            }
            request = made
            let content = try makeSink(job, made, destination)
            transfer = progress.begin(&made, job, number: index)
            log?.observe(&made)
            // For a range of the command line the digest of the server is that of the whole body.
            let isWhole = made.method == .get && !made.headers.contains("Range")
            let sink = FetchTarget(
                content,
                settings.display.includesHead ? made[option: ResponseLogOption.self] : nil,
                comparesFields: settings.digests.checksFields && job.file != nil && isWhole,
                progress: progress.metered(transfer)
            )
            target = sink
            if !readsResponses { made.download = sink.download }
            let waited = await waitForPermit(&made, ticket)
            do throws(HTTPError) {
                if !Task.isCancelled { begun = try await begin(job, &made, counted) }
            } catch {
                pacer.returnPermit(of: made)
                if let ticket { places?.end(ticket, .failure(error)) }
                throw error
            }
            made.sendCount = counted
            watch(&made, ticket, counted, board)
            // Without the wait for the permit.
            let deadline = made.timeout.map { clock.now + $0 }
            let loaded = await loader.load(made).begun(waited)
            pacer.returnPermit(of: made)
            if let ticket { places?.end(ticket, loaded) }
            let whole = await completed(loaded, of: made, sink, since: start, until: deadline, by: loader)
            result = await deliver(whole, of: job, to: sink)
        } catch {
            result = .failure(error)
        }
        var outcome = FetchOutcome(
            index: index,
            url: SanitizedURL.text(job.request.url),
            method: (request?.method ?? settings.template.method(of: job.request)).rawValue,
            result: result
        )
        outcome.began = began
        outcome.job = job
        if let counted {
            outcome.countedSends = sends?.end(counted) ?? 0
            outcome.isWrittenAtOnce = counted.writesAtOnce
        }
        if let condition = settings.options.policy.condition {
            outcome.isAwaited = outcome.response.map { condition.holds(for: $0) }
        }
        if settings.display.recordsHeads { outcome.heads = request?[option: ResponseLogOption.self]?.shown ?? [] }
        if let target, !target.isFinished.withLock({ $0 }), target.file?.size ?? 0 >= Self.longContentSize {
            // It may be synchronized.
            await withTaskExecutorPreference(globalConcurrentExecutor) { target.sink.discard() }
        }
        outcome.cost = outcome.response.flatMap(settings.options.pace.cost)
        if let cost = outcome.cost { settings.options.pace.note(cost) }
        finish(&outcome, target, job)
        outcome.begun = begun
        if settings.isSentOnce(job), begun != nil {
            outcome.isUnknown = outcome.mayBeDone(settings.template.method(of: job.request))
            if outcome.isUnknown { outcome.remark = Self.remarkOnUnknown }
        }
        outcome.isPrinted = stream(destination) === Output.standard
        outcome.elapsed = start.duration(to: clock.now)
        progress.end(transfer, outcome)
        return outcome
    }

    /// Waits for the pace and for the server's room before the time of a request runs; returns how long.
    ///
    /// The state says that a request was begun after it.
    private func waitForPermit(_ request: inout HTTPRequest, _ ticket: Places.Ticket?) async -> Duration {
        let start = ContinuousClock.now
        if let held {
            await held.hold(ticket) { await pacer.reservePermit(for: &request) }
        } else {
            await pacer.reservePermit(for: &request)
        }
        return ContinuousClock.now - start
    }

    private static let remarkOnUnknown =
        "the server may have processed it, so its outcome is unknown; it is not sent again without --resend-unknown, or "
        + "refrain retry for it alone"

    /// Notes in the state that a request which must not be done twice is about to be sent, and limits its time to the
    /// life of its key.
    ///
    /// - Returns: when it was sent first, in seconds since 1970; nil for any other request.
    private func begin(
        _ job: FetchJob,
        _ request: inout HTTPRequest,
        _ counted: SendCounter.Count?
    ) async throws(HTTPError) -> Double? {
        guard let state, let entry = job.entry else { return nil }
        guard settings.mustNotRepeat(job) else { return nil }
        let dependsOnKey = settings.dependsOnKey(job)
        let now = WallClock.Instant.now.sinceEpoch.inSeconds
        let begun = dependsOnKey && job.action != .resend ? entry.begun ?? now : now
        do throws(DatabaseError) {
            if begun != entry.begun || entry.outcome == .unknown {
                try await state.begin(entry, at: begun)
                counted?.noteFirst()
            }
        } catch {
            throw HTTPError(
                .cannotWriteToFile,
                request: request,
                underlyingError: error,
                message: "it is not sent, since the state cannot be written: \(error)",
                bytesSent: 0
            )
        }
        if dependsOnKey {
            let left = max(settings.template.keyLifetime - .seconds(now - begun), .milliseconds(1))
            request.timeout = min(request.timeout ?? left, left)
        }
        return begun
    }

    /// Whether responses are kept in memory, since their condition or their cost is read before they are written.
    private var readsResponses: Bool { settings.options.policy.condition != nil || settings.options.pace.readsBodies }

    /// Lets a request give its place up while it waits for its next attempt, and be counted as one that waits.
    private func watch(
        _ request: inout HTTPRequest,
        _ ticket: Places.Ticket?,
        _ count: SendCounter.Count?,
        _ board: RunBoard
    ) {
        guard ticket != nil || count != nil else { return }
        request.ticket = ticket
        let shown = request.attemptObserver
        request.attemptObserver = { record in
            shown?(record)
            guard record.decision == .retry else { return }
            count?.rest()
            if let ticket { ticket.rest() } else { board.post(.rested) }
        }
    }

    /// Fetches the segments that the first request has left.
    private func completed(
        _ first: HTTPResult,
        of request: HTTPRequest,
        _ target: FetchTarget,
        since start: ContinuousClock.Instant,
        until deadline: ContinuousClock.Instant?,
        by loader: any HTTPLoader
    ) async -> HTTPResult {
        guard let file = target.segmented else { return first }
        let segments = SegmentedFetch(
            loader: loader,
            file: file,
            connections: settings.options.segments ?? 1,
            progress: target.progress,
            deadline: deadline
        )
        return await segments.complete(first, of: request, since: start)
    }

    /// Records the state of the sink, and discards an incomplete content.
    private func finish(_ outcome: inout FetchOutcome, _ target: FetchTarget?, _ job: FetchJob) {
        let isDone = target?.isFinished.withLock { $0 } ?? false
        // At once rather than when the last reference to the request is released, because the process may end before.
        if !isDone { target?.sink.discard() }
        let file = target?.file
        outcome.isDelivered = isDone
        outcome.isPartial = !isDone && file?.isPartial == true
        outcome.remark = file?.remark
        if outcome.remark == ResumableFile.remarkOnLoss {
            let isSaid = hasSaidLoss.withLock { isSaid in
                defer { isSaid = true }
                return isSaid
            }
            if isSaid { outcome.remark = nil }
        }
        outcome.content = isDone ? target?.memory?.bytes : nil
        outcome.bytes = outcome.content.map { Int64($0.count) } ?? target?.sink.delivered ?? 0
        if outcome.isPartial { outcome.bytes = file?.size ?? 0 }
        outcome.file = isDone ? target?.path : nil
        if isDone, let heads = target?.heads { outcome.headSize = heads.headSize }
        if isDone, settings.options.files.keepsTime, let path = outcome.file, let response = outcome.response,
            let date = response.headers["Last-Modified"].flatMap({ HTTPDate.parse($0, now: .now) })
        {
            Directory.setModificationDate(path, date.sinceEpoch.components.seconds)
        }
    }

    /// The outcome of a request that is not sent, because the state has its result.
    private func outcomeWithoutRequest(_ job: FetchJob, number index: Int) -> FetchOutcome? {
        switch job.action {
        case .fetch, .resend, .revalidate: return nil
        default: break
        }
        let url = SanitizedURL.text(job.request.url)
        let method = settings.template.method(of: job.request)
        switch job.action {
        case .fetch, .resend, .revalidate, .wait: return nil
        case .giveUp:
            guard let request = try? settings.template.request(for: job.request) else { return nil }
            let why = job.entry?.error ?? job.entry?.status.map { "status \($0)" } ?? "no reason was kept"
            var message = "another run has tried it since this one began: \(why)"
            if job.entry?.isAbandoned == true {
                message = why + (job.entry?.begun == nil ? "" : "; the server may have done it")
                message += "; it is not sent again without refrain retry for it"
            }
            let error = HTTPError(.callerFailed, request: request, message: message, bytesSent: 0)
            return FetchOutcome(index: index, url: url, method: method.rawValue, result: .failure(error))
        case .leave:
            guard let request = try? settings.template.request(for: job.request) else { return nil }
            let error = HTTPError(
                .callerFailed,
                request: request,
                message: "an earlier run has sent it, and its outcome is unknown; it is not sent again without "
                    + "--resend-unknown, or refrain retry for it alone",
                bytesSent: 0
            )
            return FetchOutcome(index: index, url: url, method: method.rawValue, result: .failure(error))
        case .skip:
            guard let entry = job.entry, let request = try? settings.template.request(for: job.request) else {
                return nil
            }
            let response = HTTPResponse(request: request, status: HTTPStatus(rawValue: entry.status ?? 200))
            var outcome = FetchOutcome(index: index, url: url, method: method.rawValue, result: .success(response))
            (outcome.isSkipped, outcome.bytes, outcome.file) = (true, entry.bytes, job.file)
            return outcome
        case .refuse:
            guard let request = try? settings.template.request(for: job.request) else { return nil }
            let error = HTTPError(
                .cannotWriteToFile,
                request: request,
                message: "\(job.file ?? "its file") belongs to another request, as the state says; "
                    + "give this one another \"output\""
                    + (job.request.output == nil ? "; --flat gives URLs that differ files of their own" : ""),
                bytesSent: 0
            )
            return FetchOutcome(index: index, url: url, method: method.rawValue, result: .failure(error))
        }
    }

    /// The request of a job, with what the state adds to it.
    private func prepared(_ job: FetchJob, _ destination: Destination) throws(HTTPError) -> HTTPRequest {
        var request = try settings.template.request(
            for: job.request,
            storedKey: settings.storesKey(of: job) ? job.entry?.key : nil
        )
        if settings.display.failsWithBody { request.keepsErrorContent = true }
        if settings.options.schemes != nil { request = AllowedSchemes.marked(request) }
        settings.options.pace.prepare(&request)
        if destination == .standardOutputInOrder, request.maximumBodySize == nil {
            request.maximumBodySize = HTTPRequest.defaultMaximumBodySize
        }
        // Without segments a request is the same as that of curl; an unrequested digest is compared all the same.
        if settings.options.segments != nil, !request.headers.contains(DigestFields.wanted.name) {
            request.headers[DigestFields.wanted.name] = DigestFields.wanted.value
        }
        guard case .revalidate = job.action, let validator = job.entry?.validator else { return request }
        let isTag = validator.hasPrefix("\"") || validator.hasPrefix("W/")
        request.headers[isTag ? "If-None-Match" : "If-Modified-Since"] = validator
        return request
    }

    /// The output of bodies that are not written to files.
    private func stream(_ destination: Destination) -> Output {
        if case .device(let path) = destination { streams[path] ?? .standard } else { .standard }
    }

    /// Makes the sink of a body.
    private func makeSink(
        _ job: FetchJob,
        _ request: HTTPRequest,
        _ destination: Destination
    ) throws(HTTPError) -> any ContentSink {
        do {
            switch destination {
            case .standardOutput, .device:
                let plain = StreamSink(stream(destination), holdBack: settings.display.holdBack)
                let refusesBinary = destination == .standardOutput && settings.display.refusesBinary
                return digesting(refusesBinary ? TerminalSink(plain) : plain, job)
            case .standardOutputInOrder: return MemorySink()
            case .nowhere, .each: return digesting(NoSink(), job)
            case .file, .folder, .remoteNames:
                let isTree = if case .folder = destination { true } else { false }
                let wanted = job.file ?? ""
                if !isTree, settings.options.files.createsFolders { try Directory.prepareAbove(wanted) }
                if settings.options.files.takesHeaderName {
                    return NamedByServerSink(fallback: wanted, settings.options.files, claimed)
                }
                let (path, freeName) = try isTree ? (wanted, nil) : settings.options.files.place(wanted, claimed)
                let isFresh = isTree ? try folders.prepare(above: path) : false
                if isTree {
                    // A link in the output folder may lead anywhere.
                    guard isFresh || Directory.link(path) == nil else {
                        throw SystemError(what: "cannot write \(path), since it is a symbolic link", code: ELOOP)
                    }
                } else if Directory.isMountPoint(path) {
                    return try InPlaceSink(path: path)
                }
                // The text before the content is not part of it, so the content cannot be continued after it.
                guard settings.options.continues, !settings.display.includesHead, request.method == .get,
                    !request.headers.contains("Range")
                else { return try FileContentSink(path: path, freeName) }
                let url = settings.template.objectURL(of: job.request)
                guard settings.options.segments != nil || (!isFresh && SegmentedFile.isThere(PartialNames(path))) else {
                    return try ResumableFile(
                        path: path,
                        freeName,
                        url: url,
                        isFresh: isFresh,
                        isAlone: settings.isAlone,
                        takesDirectly: settings.isAlone || settings.transports.loaders.count > 1
                    )
                }
                let connections = settings.options.segments ?? 1
                return try SegmentedFile(path: path, freeName, url: url, connections: connections)
            }
        } catch {
            let code = (error as? HTTPBody.FileError)?.code ?? .cannotCreateFile
            throw HTTPError(code, request: request, underlyingError: error, message: "\(error)", bytesSent: 0)
        }
    }

    /// A sink whose digest is computed as the content passes, where it must have one.
    private func digesting(_ sink: any ContentSink, _ job: FetchJob) -> any ContentSink {
        job.digest.map { DigestingSink(sink, $0.algorithm) } ?? sink
    }

    /// Whether a response has a body, even an empty one.
    ///
    /// A response to HEAD, or a 304, describes a body that it does not contain (RFC 9110 §9.3.2, §15.4.5), so it
    /// does not replace an existing file.
    private static func hasContent(_ response: HTTPResponse) -> Bool {
        response.request.method != .head && response.status.rawValue != 304
    }

    /// Completes the content of an answer.
    private func deliver(_ result: HTTPResult, of job: FetchJob, to target: FetchTarget) async -> HTTPResult {
        if case .failure(var error) = result, error.underlyingError is Download.CannotStartOver {
            // The transfer failed; bytes that were already delivered are only the reason why it was not retried.
            error.code = .networkConnectionLost
            return .failure(error)
        }
        if case .failure(var error) = result, error.code == .cannotConnectToHost,
            let socket = settings.options.unixSocket
        {
            // libcurl names the host, to which no connection was made.
            error.message = "no process accepts connections on the socket \(socket) of --unix-socket"
            return .failure(error)
        }
        let response: HTTPResponse
        switch result {
        case .success(let answer): response = answer
        // An answer all the same, which says when to come back.
        case .failure(let error):
            guard error.code == .retryAfterTooLong, let answer = error.response,
                settings.options.policy.condition != nil || answer.status.rawValue >= 400
            else { return result }
            response = answer
        }
        do {
            try await complete(response, target, job)
            return result
        } catch {
            let isMismatch = error is DigestMismatch
            let code =
                (error as? HTTPBody.FileError)?.code ?? (error as? HTTPError)?.code
                ?? (isMismatch ? .badServerResponse : .cannotWriteToFile)
            var failure = HTTPError(
                code,
                request: response.request,
                underlyingError: error,
                message: (error as? HTTPError)?.message ?? "\(error)",
                bytesSent: response.exchange.bytesSent
            )
            failure.attempts = result.attempts
            return .failure(failure)
        }
    }

    private func complete(_ response: HTTPResponse, _ target: FetchTarget, _ job: FetchJob) async throws {
        let isError =
            settings.options.policy.condition.map { !$0.holds(for: response) } ?? (response.status.rawValue >= 400)
        if response.status.isSuccess, Self.hasContent(response), !readsResponses {
            try await check(response, target, job)
            return try target.finish()
        }
        // The content of an error replaces no other file that a later run could continue, or has completed.
        let isWritten = !isError || (settings.display.failsWithBody && !target.hasOlderContent)
        let brings = Self.hasContent(response) && isWritten
        // The head of a 304 does not replace the content that it confirms.
        let confirms = response.status == .notModified && target.hasOlderFile
        guard brings || (target.heads != nil && !confirms) else {
            // A partial file can still be continued after a response that has no body.
            if !isError { try await target.sink.startOver() }
            return
        }
        // The content came with the response; what an earlier attempt has left in the sink is not part of it.
        try await target.sink.startOver()
        if brings {
            try await target.begin(response)
            for try await chunk in response.body { try await target.sink.write(chunk) }
        } else {
            try await target.heads?.writeHeads()
        }
        if response.status.isSuccess { try await check(response, target, job) }
        try target.finish()
    }

    /// From this size on, a digest or a synchronization takes milliseconds.
    private static let longContentSize: Int64 = 1 << 20

    /// Compares a body with its known digests; discards it on a mismatch.
    private func check(_ response: HTTPResponse, _ target: FetchTarget, _ job: FetchJob) async throws {
        var expected = job.digest.map { [$0] } ?? []
        if target.comparesFields { expected += DigestFields.digests(response) }
        do {
            // The thread of the transport must not block.
            if response.exchange.bytesReceived >= Self.longContentSize, !expected.isEmpty {
                try await withTaskExecutorPreference(globalConcurrentExecutor) { try target.check(expected) }
            } else {
                try target.check(expected)
            }
        } catch let error as DigestMismatch {
            // Nothing of it can be continued.
            try? await target.sink.startOver()
            throw error
        }
    }
}

extension HTTPResult {
    /// The result of a request that has waited for its permit before: that wait is a part of its first attempt.
    fileprivate func begun(_ wait: Duration) -> HTTPResult {
        // Shorter ones are not noted as what held an attempt back.
        guard wait >= .milliseconds(1), !attempts.isEmpty else { return self }
        var records = attempts
        records[0].duration += wait
        for index in records.indices.dropFirst() { records[index].start += wait }
        return withAttempts(records)
    }

    /// The result with another record.
    func withAttempts(_ attempts: [AttemptRecord]) -> HTTPResult {
        switch self {
        case .success(var response):
            response.attempts = attempts
            return .success(response)
        case .failure(var error):
            error.attempts = attempts
            return .failure(error)
        }
    }
}
