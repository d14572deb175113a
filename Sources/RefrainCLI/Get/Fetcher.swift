internal import Refrain

/// Fetches one URL after the other, each with its own sink.
struct Fetcher: Sendable {
    private let settings: GetSettings
    private let stream: Output
    private let loader: AnyLoader

    /// Fetches what was asked for; contents that go nowhere else go to `stream`.
    init(_ settings: GetSettings, stream: Output) {
        self.settings = settings
        self.stream = stream
        // In the command a retry waits for its turn: a person who asks for 5,000 files wants all of them.
        let budgets = settings.hasBudget ? RetryBudgets { _ in .standard(whenEmpty: .wait) } : nil
        loader = AnyLoader(Redirect() --> Retry(settings.policy, budgets: budgets) --> Resume() --> settings.transport)
    }

    /// Fetches one URL, and delivers its content if it is a good one.
    func fetch(_ index: Int) async -> FetchOutcome {
        let job = settings.jobs[index]
        let clock = ContinuousClock()
        let start = clock.now
        var method = "GET"
        var sink: (any ContentSink)?
        var result: HTTPResult
        do throws(HTTPError) {
            var request = try settings.template.request(for: job.url)
            method = request.method.rawValue
            let target = try makeSink(job, request)
            sink = target
            request.download = Download(to: target)
            if settings.destination == .standardOutputInOrder, request.maximumBodySize == nil {
                request.maximumBodySize = HTTPRequest.defaultMaximumBodySize
            }
            result = await deliver(await loader.load(request), to: target)
        } catch {
            result = .failure(error)
        }
        var isDone = false
        if case .success(let response) = result {
            isDone = response.status.rawValue < 400 && Self.hasContent(response)
        }
        // At once, not when the last one who knows the request lets it go: the process may end before.
        if !isDone { sink?.discard() }
        let content = isDone ? (sink as? MemorySink)?.bytes : nil
        return FetchOutcome(
            index: index,
            url: ShownURL.text(job.url),
            method: method,
            result: result,
            bytes: content.map { Int64($0.count) } ?? sink?.delivered ?? 0,
            elapsed: start.duration(to: clock.now),
            file: isDone ? job.file : nil,
            content: content,
            isPrinted: stream === Output.standard
        )
    }

    private func makeSink(_ job: GetSettings.Job, _ request: HTTPRequest) throws(HTTPError) -> any ContentSink {
        do {
            switch settings.destination {
            case .standardOutput, .device: return StreamSink(stream)
            case .standardOutputInOrder: return MemorySink()
            case .nowhere: return NoSink()
            case .file, .folder: return try FileContentSink(path: job.file ?? "")
            }
        } catch {
            throw HTTPError(error.code, request: request, underlyingError: error, message: "\(error)", bytesSent: 0)
        }
    }

    /// Whether an answer carries a content, be it an empty one.
    ///
    /// One to HEAD, or a 304, speaks of a content that it does not carry (RFC 9110 §9.3.2, §15.4.5): a file that is
    /// there is not replaced by it.
    private static func hasContent(_ response: HTTPResponse) -> Bool {
        response.request.method != .head && response.status.rawValue != 304
    }

    /// Completes the content of a good answer.
    private func deliver(_ result: HTTPResult, to sink: any ContentSink) async -> HTTPResult {
        if case .failure(var error) = result, error.underlyingError is CannotStartOver {
            // What failed is the transfer; that it could not be hidden is the reason why it was not tried again.
            error.code = .networkConnectionLost
            return .failure(error)
        }
        guard case .success(let response) = result, response.status.rawValue < 400 else { return result }
        do {
            guard Self.hasContent(response) else {
                try await sink.startOver()
                return result
            }
            if !response.status.isSuccess {
                // The content came with the response; what an earlier try has left in the sink is not part of it.
                try await sink.startOver()
                for try await chunk in response.body { try await sink.write(chunk) }
            }
            try sink.finish()
            return result
        } catch {
            let code = (error as? LocalFileError)?.code ?? (error as? HTTPError)?.code ?? .cannotWriteToFile
            var failure = HTTPError(
                code,
                request: response.request,
                underlyingError: error,
                message: "\(error)",
                bytesSent: response.exchange.bytesSent
            )
            failure.attempts = response.attempts
            return .failure(failure)
        }
    }
}
