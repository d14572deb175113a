/// One try of a session's request: adapted, sent, and looked at.
///
/// A request that is suspended waits here. One loader for these steps, and not a stage for each: every one of them
/// would stand, with a frame or two, in each request that waits for its answer.
struct Trial: TracedLoader {
    /// What sends the requests that are downloads, or whose bytes are watched.
    let whole: any HTTPLoader
    /// What sends all others, round the stages that only those need.
    let short: any HTTPLoader
    let clocks: ClockPair

    func load(_ request: HTTPRequest) async -> HTTPResult {
        guard let owner = request.sessionRequest else { return await whole.load(request) }
        let sent: HTTPRequest
        do {
            // Asked here, to spare those who need not wait a frame.
            if owner.gate.isOpen, owner.line.adapters.isEmpty {
                sent = try begin(request, owner)
            } else {
                sent = try await wait(request, owner)
            }
        } catch {
            return .failure(error)
        }
        let next = isPlain(sent, owner) ? short : whole
        let result =
            owner.sessionReference.isWatched ? await time(sent, owner, next) : await next.load(sent)
        if !ResponseChecks.pass(result, of: request, owner) { await owner.discardTry() }
        return owner.keepsBodies ? result : owner.passedOn(result)
    }

    func reset() async { await whole.reset() }

    func trace(_ place: inout ChainPlace) { place.trace(whole) }

    // Apart, so that nobody else reads a clock for it, or keeps what it reports.
    @inline(never)
    private func time(_ sent: HTTPRequest, _ owner: Request, _ next: any HTTPLoader) async -> HTTPResult {
        let number = owner.tryCount
        let began = clocks.now
        let result = await next.load(sent)
        owner.watcher?.request(owner, didFinishAttempt: number, with: result, after: clocks.now - began)
        return result
    }

    /// Begins a try that nobody adapts.
    @inline(never)
    private func begin(_ request: HTTPRequest, _ owner: Request) throws(HTTPError) -> HTTPRequest {
        try Adaptation.begin(request, owner)
        return try Adaptation.conclude(Adaptation.checked(request, of: owner, request), request, owner)
    }

    /// Begins a try that is suspended or adapted, if it is ready before its deadline (rule R20).
    @inline(never)
    private func wait(_ request: HTTPRequest, _ owner: Request) async throws(HTTPError) -> HTTPRequest {
        let began = clocks.now
        let (begun, isLate) = await request.withinDeadline(on: clocks) { await adapt(request, owner) }
        switch begun {
        case .success(let sent):
            guard let left = sent.afterWaiting(clocks.now - began) else { throw late(sent) }
            return left
        case .failure(let error): throw isLate && error.code == .cancelled ? late(request) : error
        }
    }

    private func adapt(_ request: HTTPRequest, _ owner: Request) async -> Result<HTTPRequest, HTTPError> {
        await owner.gate.pass()
        do throws(HTTPError) {
            guard !owner.line.adapters.isEmpty else { return .success(try begin(request, owner)) }
            try Adaptation.begin(request, owner)
            let adapted = await Adaptation.adapt(request, of: owner, attempt: owner.tryCount)
            return .success(try Adaptation.conclude(adapted, request, owner))
        } catch {
            return .failure(error)
        }
    }

    private func late(_ request: HTTPRequest) -> HTTPError {
        request.tooLate("before the request was ready to be sent")
    }

    /// Whether nothing but the transport has anything to do with the request.
    @inline(never)
    private func isPlain(_ request: HTTPRequest, _ owner: Request) -> Bool {
        request.download == nil && !owner.watchesBytes
    }
}
