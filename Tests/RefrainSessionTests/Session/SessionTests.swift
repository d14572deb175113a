// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import TestSupport
import Testing

@Suite("Sessions and the lives of requests", .timeLimit(.minutes(10)))
struct SessionTests {
    @Test("A: Request: the legal transitions, and no others", arguments: Request.State.allCases, Request.State.allCases)
    func transitions(from: Request.State, to: Request.State) {
        let legal: [Request.State: Set<Request.State>] = [
            .initialized: [.resumed, .suspended, .cancelled, .finished],
            .resumed: [.suspended, .cancelled, .finished],
            .suspended: [.resumed, .cancelled, .finished],
        ]
        #expect(from.canTransition(to: to) == (legal[from]?.contains(to) ?? false))
    }

    @Test("A: Request: a request starts when its response is wanted, and finishes")
    func life() async {
        let session = Session.testing(ScriptedLoader(.status(200, body: "ok")))
        let request = session.request(HTTPRequest.sample)
        #expect(request.isInitialized)
        let task = request.serializingData()
        _ = await task.response
        #expect(request.isFinished)
        #expect(!request.resume().isResumed)
        #expect(!request.cancel().isCancelled)
    }

    @Test("a request that has ended is released with its last reference", .timeLimit(.minutes(5)))
    func release() async {
        let loader = ScriptedLoader(.failure(.networkConnectionLost), .status(200, body: "ok"), .status(404))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        weak var tried: Request?
        weak var refused: Request?
        weak var uploaded: Request?
        do {
            let first = session.request(HTTPRequest.sample).validate()
            _ = await first.serializingString().response
            #expect(first.retryCount == 1 && first.response?.status == 200)
            let second = session.request(HTTPRequest.sample).validate()
            _ = await second.serializingString().response
            #expect(second.error != nil)
            let third = session.upload(HTTPBody.bytes([1, 2, 3]), to: "https://api.example.com/")
            _ = await third.serializingString().response
            #expect(third.response?.status == 404)
            (tried, refused, uploaded) = (first, second, third)
        }
        // The task that ran a request releases it shortly after the end.
        await untilFreed { tried ?? refused ?? uploaded }
    }

    @Test("A: Session: a session that starts nothing by itself waits for resume()")
    func explicitStart() async throws {
        let loader = ScriptedLoader(.status(200, body: "ok"))
        let session = Session.testing(loader) { $0.startsRequestsImmediately = false }
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingString()
        #expect(request.isInitialized)
        #expect(loader.requests.isEmpty)
        task.resume()
        #expect(try await task.value == "ok")
    }

    @Test("A: Request: a request that is suspended in its back-off begins no attempt until it is resumed")
    func suspendedRetry() async throws {
        let loader = ScriptedLoader(.status(503), .status(200, body: "ok"))
        let isRetrying = Signal()
        let session = Session.testing(
            loader,
            interceptor: Retrier { request, _, _ in
                request.suspend()
                return .retry
            },
            monitors: [.retrying(isRetrying)]
        )
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingString()
        await isRetrying.wait()
        #expect(request.isSuspended && request.retryCount == 1)
        #expect(loader.requests.count == 1)
        request.resume()
        #expect(try await task.value == "ok")
        #expect(loader.requests.count == 2)
    }

    @Test("A: Request: a suspended request can be cancelled")
    func cancelSuspended() async {
        let session = Session.testing(ScriptedLoader(.status(200)))
        let request = session.request(HTTPRequest.sample)
        request.suspend()
        let task = request.serializingData()
        #expect(request.isSuspended)
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
    }

    @Test("A: Request: a request that is cancelled before it starts sends nothing")
    func cancelEarly() async {
        let loader = ScriptedLoader(.status(200))
        let session = Session.testing(loader)
        let request = session.request(HTTPRequest.sample).cancel()
        #expect(await request.serializingData().response.error?.isExplicitlyCancelledError == true)
        #expect(loader.requests.isEmpty)
    }

    @Test("R30: many resumes, suspends and cancels at once start one load and end once")
    func race() async {
        for _ in 0..<200 {
            let loader = ScriptedLoader(.status(200, body: "ok"))
            let recorder = EventTests.Recorder()
            let session = Session.testing(loader, monitors: [recorder])
            let request = session.request(HTTPRequest.sample)
            await withTaskGroup { group in
                for index in 0..<8 {
                    group.addTask {
                        switch index % 4 {
                        case 0: request.resume()
                        case 1: request.suspend()
                        case 2: _ = await request.serializingData().response
                        default: request.cancel()
                        }
                    }
                }
            }
            #expect(loader.requests.count <= 1)
            #expect(request.isCancelled || request.isFinished)
            #expect(recorder.events.entries.count { $0 == "finished" } == 1)
        }
    }

    @Test("A: errors: a released session ends what runs, and says why")
    func released() async {
        var session: Session? = Session.testing(ScriptedLoader(.hang), clock: nil)
        let request = session?.request(HTTPRequest.sample)
        let task = request?.serializingData()
        session = nil
        guard case .sessionDeinitialized? = await task?.response.error else {
            Issue.record("\(String(describing: request?.error))")
            return
        }
    }

    @Test("A: errors: a request whose session is gone before it starts says so")
    func releasedEarly() async {
        var session: Session? = Session.testing(ScriptedLoader(.status(200)))
        let request = session?.request(HTTPRequest.sample)
        session = nil
        guard case .sessionDeinitialized? = await request?.serializingData().response.error else {
            Issue.record("\(String(describing: request?.error))")
            return
        }
    }

    @Test("A: errors: an invalidated session ends what runs and takes nothing more")
    func invalidated() async {
        let session = Session.testing(ScriptedLoader(.hang), clock: nil)
        let running = session.request(HTTPRequest.sample)
        let task = running.serializingData()
        session.invalidate(dueTo: TestError(name: "logged out"))
        for response in [await task.response, await session.request(HTTPRequest.sample).serializingData().response] {
            guard case .sessionInvalidated(let cause)? = response.error else {
                Issue.record("\(String(describing: response.error))")
                return
            }
            #expect(cause as? TestError == TestError(name: "logged out"))
        }
    }

    @Test("A: Session: all requests can be looked at and cancelled; those that have ended are not among them")
    func tracking() async {
        let session = Session.testing(ScriptedLoader(.hang), clock: nil)
        let requests = (0..<10).map { _ in session.request(HTTPRequest.sample) }
        let tasks = requests.map { $0.serializingData() }
        session.withAllRequests { #expect($0 == Set(requests)) }
        await session.cancelAllRequestsAndWait()
        session.withAllRequests { #expect($0.isEmpty) }
        for task in tasks { #expect(await task.response.error?.isExplicitlyCancelledError == true) }
    }

    @Test("A: Session: a reset ends what runs, and leaves the session usable")
    func reset() async throws {
        let loader = ScriptedLoader(.hang, .status(200, body: "ok"))
        let session = Session.testing(loader, clock: nil)
        let task = session.request(HTTPRequest.sample).serializingData()
        await loader.requests(atLeast: 1)
        await session.reset()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        #expect(try await session.request(HTTPRequest.sample).serializingString().value == "ok")
    }

    @Test("the throttle's slot is free while a request waits for its next attempt")
    func throttle() async throws {
        let waiting = Signal()
        let loader = ScriptedLoader(.status(503), .status(200, body: "ok"))
        let session = Session.testing(
            loader,
            interceptor: Retrier { request, _, _ in
                waiting.set()
                return .retryWithDelay(.seconds(3600))
            },
            clock: nil
        ) { $0.throttle = Throttle(maximumNumberOfRequests: 1) }
        let first = session.request(HTTPRequest.sample)
        let task = first.serializingData()
        await waiting.wait()
        #expect(try await session.request(HTTPRequest.sample).serializingString().value == "ok")
        first.cancel()
        _ = await task.response
    }

    @Test("a request that has ended is freed with its last reference, whatever its end", .timeLimit(.minutes(5)))
    func freedRequest() async {
        let answers: [ScriptedLoader.Answer] = [.status(200, body: "ok"), .status(503), .failure(.timedOut)]
        for answer in answers {
            let session = Session.testing(ScriptedLoader(answer), interceptor: CountingInterceptor(.retry, .doNotRetry))
            weak var weakly: DataRequest?
            var response: DataResponse<String, RefrainError>?
            do {
                let request = session.request(HTTPRequest.sample).validate()
                weakly = request
                response = await request.serializingString().response
            }
            await untilFreed { weakly }
            #expect(response != nil)
        }
    }

    @Test(
        "an upload that has ended is freed with its last reference, though its body counted for it",
        .timeLimit(.minutes(5))
    )
    func freedUpload() async {
        let session = Session.testing(ScriptedLoader(.status(200, body: "ok")))
        weak var weakly: UploadRequest?
        do {
            let request = session.upload(.text("body"), to: "http://host.test/up")
            weakly = request
            #expect(await request.serializingString().response.value == "ok")
        }
        await untilFreed { weakly }
    }

    @Test("A: errors: what is no URL fails the request, and no retrier is asked")
    func invalidURL() async {
        let interceptor = CountingInterceptor(.retry)
        let session = Session.testing(ScriptedLoader(.status(200)), interceptor: interceptor)
        guard case .invalidURL? = await session.request("no url").serializingData().response.error else {
            Issue.record("not refused")
            return
        }
        #expect(interceptor.retries.value == 0)
    }

    @Test("A: parameters: a GET with a body is refused before it is sent")
    func getWithBody() async {
        let loader = ScriptedLoader(.status(200))
        let session = Session.testing(loader)
        let request = session.request(HTTPRequest("/a", body: .text("x")))
        guard
            case .requestValidationFailed(.bodyDataInGETRequest(length: 1))? =
                await request.serializingData().response.error
        else {
            Issue.record("not refused")
            return
        }
        #expect(loader.requests.isEmpty)
    }

    @Test("A: Request: a request describes itself as a command that a shell can run")
    func curl() async {
        let session = Session.testing(ScriptedLoader(.status(200, body: "ok")))
        var plain = HTTPRequest("/a?b=c", method: .post, body: .text("it's"))
        plain.headers["X-One"] = "1"
        let request = session.request(plain)
        let text = request.cURLDescription()
        #expect(text.hasPrefix("$ curl -v"))
        #expect(text.contains("-X 'POST'"))
        #expect(text.contains("-H 'X-One: 1'"))
        #expect(text.contains(#"--data-raw 'it'\''s'"#))
        #expect(text.hasSuffix("'http://host.test/a?b=c'"))
    }

    @Test("a command for curl has no secrets, unless they are asked for")
    func curlSecrets() {
        var plain = HTTPRequest("/a?api_key=s3cret&q=1")
        plain.headers = ["Authorization": "Bearer s3cret", "X-Mine": "s3cret"]
        plain.secretHeaders = ["x-mine"]
        let request = Session.testing(ScriptedLoader(.status(200))).request(plain)
        let text = request.cURLDescription()
        #expect(!text.contains("s3cret"))
        #expect(text.contains("-H 'Authorization: ***'") && text.hasSuffix("'http://host.test/a?api_key=***&q=1'"))
        #expect(request.cURLDescription(showingSecrets: true).ranges(of: "s3cret").count == 3)
    }

    private static let curlCases: [(HTTPMethod, HTTPBody, first: [String], last: [String])] = [
        (.post, .text("@/etc/hostname"), ["-X", "POST"], ["--data-raw", "@/etc/hostname"]),
        (.put, .bytes([0xFF, 0xFE, 0]), ["-X", "PUT"], ["--data-binary", "@-"]),
        (.put, .oneShot(AsyncStream<[UInt8]> { $0.finish() }), ["-X", "PUT"], ["--data-binary", "@-"]),
        (.put, .file("it's @ file"), ["-X", "PUT"], ["--data-binary", "@it's @ file"]),
        (.head, .empty, ["--head"], []),
        (.head, .text("x"), ["-X", "HEAD"], ["--data-raw", "x"]),
    ]

    @Test(
        "A: Request: a command for curl says the same as the request, whatever its method, fields and body are",
        arguments: curlCases
    )
    func curlArguments(method: HTTPMethod, body: HTTPBody, first: [String], last: [String]) throws {
        let session = Session.testing(ScriptedLoader(.status(200)))
        var plain = HTTPRequest("/a", method: method, body: body)
        plain.headers["Content-Type"] = "text/plain"
        plain.headers["X-Empty"] = ""
        let text = session.request(plain).cURLDescription()
        let words = try Shell.words(of: String(text.dropFirst("$ ".count)))
        let fields = ["-H", "Content-Type: text/plain", "-H", "X-Empty;"]
        let expected: [[String]] = [["curl", "-v"], first, fields, last, ["http://host.test/a"]]
        #expect(words == expected.flatMap { $0 })
    }

    @Test("A: Request: no text ends its quotes, also where a quote and what follows it are one character")
    func curlQuotes() throws {
        let evil = "it'\u{301}; exit 1; echo '\u{301}s '\u{200D}' '\u{FE0F}x"
        var plain = HTTPRequest("/a", method: .post, body: .text(evil))
        plain.headers["X-Evil"] = evil
        plain.headers["Content-Type"] = "text/plain"
        let text = Session.testing(ScriptedLoader(.status(200))).request(plain).cURLDescription()
        let words = try Shell.words(of: String(text.dropFirst("$ ".count)))
        let fields = ["-H", "X-Evil: \(evil)", "-H", "Content-Type: text/plain"]
        let expected = ["curl", "-v", "-X", "POST"] + fields + ["--data-raw", evil, "http://host.test/a"]
        // By bytes: texts that look alike are equal.
        #expect(words.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }

    @Test("A: Request: a command for curl adds no type to a body that has none")
    func curlContentType() throws {
        let plain = HTTPRequest("/a", method: .put, body: .bytes([0x61]))
        let text = Session.testing(ScriptedLoader(.status(200))).request(plain).cURLDescription()
        let words = try Shell.words(of: String(text.dropFirst("$ ".count)))
        let expected = ["curl", "-v", "-X", "PUT", "-H", "Content-Type:", "--data-raw", "a", "http://host.test/a"]
        #expect(words == expected)
    }
}
