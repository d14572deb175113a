// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Redirects")
struct RedirectTests {
    private let clock = TestClock(.autoAdvancing)
    private let mock = MockLoader()

    private var chain: some HTTPLoader { Redirect(clocks: clock.retryClocks()) --> mock }

    private func redirect(_ status: HTTPStatus, to location: String, _ more: HTTPHeaders = [:]) -> MockLoader.Reply {
        var headers = more
        headers["Location"] = location
        return .status(status, headers: headers)
    }

    @Test("R26: methods and bodies change as RFC 9110 says", arguments: [301, 302, 303, 307, 308] as [HTTPStatus])
    func methods(status: HTTPStatus) async throws {
        for method: HTTPMethod in [.get, .head, .post, .put, .delete, .patch] {
            mock.then(redirect(status, to: "/next")).then(.status(200))
            var request = try HTTPRequest("http://a.example/first", method: method, body: .text("x"))
            let fields = ["Content-Type", "Content-Range", "Last-Modified", "Expect"]
            for name in fields { request.headers[name] = "x" }
            _ = try await chain.response(for: request)
            let sent = try #require(mock.requests.last)
            let becomesGet = status == 303 ? method != .head : (status.rawValue < 303 && method == .post)
            #expect(sent.method == (becomesGet ? .get : method), "\(status) \(method)")
            #expect(sent.body.isEmpty == becomesGet, "\(status) \(method)")
            for name in fields { #expect(sent.headers.contains(name) == !becomesGet, "\(status) \(method) \(name)") }
            #expect(sent.url.absoluteString == "http://a.example/next")
        }
    }

    @Test(
        "R26: . and .. are taken out of the path of a Location, be it absolute (RFC 3986 §5.2.2)",
        arguments: [
            ("../c/./d?e=/../f#/../g", "http://a.example/c/d?e=/../f#/../g"),
            ("http://b.example/x/../../y/./z", "http://b.example/y/z"), ("http://b.example/x/..", "http://b.example/"),
            ("//b.example/x/y/.", "http://b.example/x/y/"),
            ("http://b.example/.x/..y/...", "http://b.example/.x/..y/..."),
            ("http://b.example/x//../y", "http://b.example/x/y"), ("http://b.example?/../x", "http://b.example?/../x"),
        ]
    )
    func dotSegments(location: String, target: String) async throws {
        mock.then(redirect(302, to: location)).then(.status(200))
        _ = try await chain.response(for: HTTPRequest("http://a.example/a/b"))
        #expect(mock.requests.last?.url.absoluteString == target)
    }

    @Test("R26: twenty redirects are followed, the next one is an error")
    func limit() async throws {
        for _ in 0..<20 { mock.then(redirect(302, to: "/again")) }
        mock.then(.status(200))
        let request = try HTTPRequest("http://a.example/again")
        let response = try await chain.response(for: request)
        #expect(response.attempts.count == 21)
        #expect(response.attempts.dropLast().allSatisfy { $0.reason == .redirected && $0.decision == .retry })
        mock.otherwise(redirect(302, to: "/again"))
        guard case .failure(let error) = await chain.load(request) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .httpTooManyRedirects)
        #expect(error.attempts.count == 21)
    }

    @Test("R26: across origins credentials are dropped, and do not come back")
    func credentials() async throws {
        mock.then(redirect(307, to: "http://b.example/x")).then(redirect(307, to: "http://a.example/y")).then(
            .status(200)
        )
        var request = try HTTPRequest("http://a.example/", method: .post, body: .text("x"))
        request.headers = [
            "Authorization": "Bearer t", "Cookie": "c=1", "Proxy-Authorization": "p", "X-Api-Key": "k", "X-Kept": "1",
        ]
        request.secretHeaders = ["x-api-key"]
        request.idempotencyKey = .generated
        _ = try await chain.response(for: request)
        let names = ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "Idempotency-Key"]
        #expect(names.allSatisfy { mock.requests[0].headers.contains($0) })
        for later in mock.requests.dropFirst() {
            #expect(names.filter { later.headers.contains($0) } == [])
            #expect(later.headers["X-Kept"] == "1")
            #expect(!later.hasIdempotencyKey)
        }
    }

    @Test("R26: nor do they go to an origin that the caller's closure has chosen, and TLS is not left by it")
    func chosenOrigin() async throws {
        func follow(to url: String) async throws -> HTTPResult {
            mock.then(redirect(302, to: "/next")).then(.status(200))
            let chosen = try HTTPRequest(url).url
            var request = try HTTPRequest("https://a.example/")
            request.headers = ["Authorization": "Bearer t", "X-Kept": "1"]
            request.redirectModifier = { _, next, _ in
                var next = next
                next.url = chosen
                return next
            }
            return await chain.load(request)
        }
        #expect(try await follow(to: "https://b.example/x").get().status == 200)
        #expect(mock.requests.map { $0.headers["Authorization"] } == ["Bearer t", nil])
        #expect(mock.requests.last?.headers["X-Kept"] == "1")
        #expect(try await follow(to: "https://a.example/x").get().status == 200)
        #expect(mock.requests.last?.headers["Authorization"] == "Bearer t")
        guard case .failure(let error) = try await follow(to: "http://a.example/x") else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .insecureRedirect)
        #expect(mock.requests.count == 5)
    }

    @Test("R6: what a redirect has dropped stays dropped, also when a stage adds it again")
    func stayDropped() async throws {
        mock.then(redirect(302, to: "http://b.example/x")).then(.status(200))
        var request = try HTTPRequest("http://a.example/")
        request.headers["Authorization"] = "Bearer t"
        _ = try await chain.response(for: request)
        var signedAgain = try #require(mock.requests.last)
        signedAgain.headers["Authorization"] = "Bearer t"
        #expect(!signedAgain.withoutDroppedHeaders().headers.contains("Authorization"))
    }

    @Test("R26: scheme, host and port make the origin")
    func origins() async throws {
        let elsewhere = ["https://a.example/", "http://a.example:81/", "http://c.a.example/", "//b.example/"]
        for target in elsewhere {
            mock.then(redirect(302, to: target)).then(.status(200))
            var request = try HTTPRequest("http://a.example/")
            request.headers["Cookie"] = "c=1"
            _ = try await chain.response(for: request)
            #expect(mock.requests.last?.headers.contains("Cookie") == false, "\(target)")
        }
        for target in ["http://A.EXAMPLE:80/z", "/z", "?q=1", "z"] {
            mock.then(redirect(302, to: target)).then(.status(200))
            var request = try HTTPRequest("http://a.example/")
            request.headers["Cookie"] = "c=1"
            _ = try await chain.response(for: request)
            #expect(mock.requests.last?.headers.contains("Cookie") == true, "\(target)")
        }
    }

    @Test("R26: userinfo in Location is ignored")
    func userinfo() async throws {
        mock.then(redirect(302, to: "http://user:secret@a.example/x")).then(.status(200))
        _ = try await chain.response(for: HTTPRequest("http://a.example/"))
        #expect(mock.requests.last?.url.absoluteString == "http://a.example/x")
    }

    @Test("R26: a Location that cannot be followed is quoted without secrets")
    func quotedLocation() async throws {
        mock.then(redirect(302, to: "ftp://user:s3cret@a.example/?token=s3cret&a=b"))
        let error = await #expect(throws: HTTPError.self) {
            try await chain.response(for: HTTPRequest("http://a.example/"))
        }
        #expect(error?.message == #"the Location "ftp://a.example/?token=***&a=b" cannot be followed"#)
    }

    @Test("R26: the request's own userinfo stays with its origin, and leaves with it")
    func ownUserinfo() async throws {
        mock.then(redirect(302, to: "/x")).then(redirect(302, to: "http://other:one@a.example/y"))
            .then(redirect(302, to: "http://b.example/")).then(redirect(302, to: "http://a.example/z"))
            .then(.status(200))
        _ = try await chain.response(for: HTTPRequest("http://me:p%40ss@a.example/"))
        #expect(
            mock.requests.map(\.url.absoluteString) == [
                "http://me:p%40ss@a.example/", "http://me:p%40ss@a.example/x", "http://me:p%40ss@a.example/y",
                "http://b.example/", "http://a.example/z",
            ]
        )
    }

    @Test("R26: escapes in a Location stay as they are, whatever stands beside them")
    func escapes() async throws {
        mock.then(redirect(302, to: "/t?f[a]=x%20y")).then(redirect(302, to: "é%20x z")).then(.status(200))
        _ = try await chain.response(for: HTTPRequest("http://a.example/"))
        #expect(
            mock.requests.map(\.url.absoluteString).dropFirst() == [
                "http://a.example/t?f%5Ba%5D=x%20y", "http://a.example/%C3%A9%20x%20z",
            ]
        )
    }

    @Test("R19, R26: fields that tell of a rate limit hold no redirect back")
    func rateLimits() async throws {
        let used: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "3000"]
        mock.then(redirect(302, to: "http://b.example/x", used)).then(.status(200))
        #expect(try await chain.response(for: HTTPRequest("http://a.example/")).status == 200)
        #expect(clock.sleeps.isEmpty)
    }

    @Test("R26: a Location without a fragment inherits the request's, as RFC 9110 §10.2.2 has it")
    func fragments() async throws {
        mock.then(redirect(302, to: "/x")).then(redirect(302, to: "/y#own")).then(.status(200))
        _ = try await chain.response(for: HTTPRequest("http://a.example/#part"))
        #expect(
            mock.requests.map(\.url.absoluteString) == [
                "http://a.example/#part", "http://a.example/x#part", "http://a.example/y#own",
            ]
        )
    }

    @Test("R26: a Location is relative to the URL that was sent, which a stage further in may have completed")
    func completedURL() async throws {
        var environment = ServerEnvironment(host: "a.example")
        environment.headers["Authorization"] = "Bearer x"
        mock.then(redirect(301, to: "/people/")).then(.status(200))
        let loader = Redirect(clocks: clock.retryClocks()) --> ApplyEnvironment(environment) --> mock
        var request = try HTTPRequest(path: "people")
        request.headers["X-Own"] = "1"
        request.secretHeaders = ["X-Own"]
        #expect(try await loader.response(for: request).status == 200)
        #expect(mock.requests.last?.url.absoluteString == "https://a.example/people/")
        #expect(mock.requests.last?.headers["X-Own"] == "1")
    }

    @Test("R26: https never falls to http")
    func downgrade() async throws {
        mock.then(redirect(302, to: "http://a.example/x"))
        guard case .failure(let error) = await chain.load(try HTTPRequest("https://a.example/")) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .insecureRedirect)
        #expect(mock.requests.count == 1)
    }

    @Test("R8: a redirect without a usable target is an error, and final")
    func unusable() async throws {
        let retrying =
            Redirect(clocks: clock.retryClocks())
            --> Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks()) --> mock
        let replies: [MockLoader.Reply] = [
            redirect(302, to: ""), redirect(302, to: "ftp://a.example/"), redirect(302, to: "http://"),
            redirect(302, to: "http://a.example:99999/"), redirect(302, to: "javascript:alert(1)"),
            .status(302, headers: HTTPHeaders([("Location", "/a"), ("Location", "/b")])),
        ]
        for reply in replies {
            let before = mock.requests.count
            mock.then(reply)
            guard case .failure(let error) = await retrying.load(try HTTPRequest("http://a.example/")) else {
                Issue.record("a success")
                continue
            }
            #expect(error.code == .redirectToNonExistentLocation)
            #expect(mock.requests.count == before + 1)
        }
    }

    @Test(
        "R8: a 3xx without Location is an answer like any other, such as the 308 of a resumable upload",
        arguments: [301, 302, 303, 307, 308] as [HTTPStatus]
    )
    func withoutLocation(status: HTTPStatus) async throws {
        let retrying =
            Redirect(clocks: clock.retryClocks())
            --> Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks()) --> mock
        mock.then(.status(status, headers: ["Range": "bytes=0-42"], body: .text("part")))
        let request = try HTTPRequest("http://a.example/", method: .put, body: .text("x"))
        let response = try await retrying.response(for: request)
        #expect(response.status == status)
        #expect(response.headers["Range"] == "bytes=0-42")
        #expect(response.body.bytesInMemory == Array("part".utf8))
        #expect(response.attempts.map(\.reason) == [.succeeded])
        #expect(mock.requests.count == 1)
    }

    @Test("R4: a redirect that wants a spent body again is an error; a 303 wants none")
    func spentBody() async throws {
        func stream() -> HTTPBody {
            .oneShot(
                AsyncStream {
                    $0.yield([1]); $0.finish()
                }
            )
        }
        mock.then(redirect(307, to: "/x"))
        let request = try HTTPRequest("http://a.example/", method: .put, body: stream())
        guard case .failure(let error) = await chain.load(request) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .requestBodyStreamExhausted)
        mock.then(redirect(303, to: "/x")).then(.status(200))
        let other = try HTTPRequest("http://a.example/", method: .put, body: stream())
        #expect(try await chain.response(for: other).status == 200)
    }

    @Test("R18: a redirect with Retry-After waits, within the bounds")
    func waits() async throws {
        mock.then(redirect(302, to: "/x", ["Retry-After": "9"])).then(.status(200))
        let response = try await chain.response(for: HTTPRequest("http://a.example/"))
        #expect(clock.sleeps == [.seconds(9)])
        #expect(response.attempts.first?.delay == .seconds(9))
        mock.then(redirect(302, to: "/x", ["Retry-After": "900"]))
        guard case .failure(let error) = await chain.load(try HTTPRequest("http://a.example/")) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .retryAfterTooLong)
    }

    @Test("R23: redirects draw on no budget, and use up no attempts")
    func noBudget() async throws {
        let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: 0, clock: AnyClock(clock))
        let loader =
            Redirect(clocks: clock.retryClocks())
            --> Retry(RetryPolicy.recommended, budgets: Retry.Budgets { _ in budget }, clocks: clock.retryClocks())
            --> mock
        for _ in 0..<10 { mock.then(redirect(302, to: "/x")) }
        mock.then(.status(200))
        #expect(try await loader.response(for: HTTPRequest("http://a.example/")).status == 200)
    }

    @Test("Each hop has attempts of its own: a POST answered by 303 is not posted again")
    func triesOfAHop() async throws {
        let loader =
            Redirect(clocks: clock.retryClocks())
            --> Retry(Backoff.immediately(), budgets: nil, clocks: clock.retryClocks()) --> mock
        mock.then(redirect(303, to: "/result")).then(.status(503)).then(.status(200))
        let response = try await loader.response(for: HTTPRequest("http://a.example/", method: .post, body: .text("x")))
        #expect(mock.requests.map(\.method) == [.post, .get, .get])
        #expect(response.attempts.map(\.number) == [1, 2, 3])
        #expect(response.attempts.map(\.reason) == [.redirected, .transientStatus, .succeeded])
    }

    @Test("R20: the deadline spans all hops")
    func deadlineSpansHops() async throws {
        let loader =
            Redirect(clocks: clock.retryClocks())
            --> Retry(Backoff.constant(delay: .seconds(2)), budgets: nil, clocks: clock.retryClocks()) --> mock
        mock.then(.status(503)).then(redirect(302, to: "/x")).then(.status(503)).then(.status(200))
        var request = try HTTPRequest("http://a.example/")
        request.timeout = .seconds(3)
        let response = try await loader.response(for: request)
        #expect(response.status == 503)
        #expect(response.attempts.last?.reason == .deadlineExceeded)
        #expect(response.attempts.map(\.start) == [.zero, .seconds(2), .seconds(2)])
    }

    @Test("R20: a redirect that comes with the deadline is an error, and not the answer", arguments: [false, true])
    func deadlineAtRedirect(withinRetry: Bool) async throws {
        let clock = clock
        mock.otherwise(
            MockLoader.Reply { request in
                try? await clock.sleep(until: clock.now.advanced(by: .seconds(3)))
                return .success(HTTPResponse(request: request, status: 302, headers: ["Location": "/x"]))
            }
        )
        var request = try HTTPRequest("http://a.example/")
        request.timeout = .seconds(3)
        let retry = Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks())
        let result = withinRetry ? await (retry --> chain).load(request) : await chain.load(request)
        guard case .failure(let error) = result else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .deadlineExceeded)
        #expect(error.response?.status == 302)
        #expect(error.attempts.last?.reason == .deadlineExceeded)
        #expect(mock.requests.count == 1)
    }

    @Test("A request that wants no redirects gets the answer itself")
    func notFollowed() async throws {
        mock.then(redirect(302, to: "/x"))
        var request = try HTTPRequest("http://a.example/")
        request.followsRedirects = false
        #expect(try await chain.response(for: request).status == 302)
        #expect(Redirect(maximumNumberOfRedirects: -1).maximumNumberOfRedirects == 0)
    }

    /// A retry stage round the redirects, which is the order that is not recommended.
    private var retriedChain: some HTTPLoader {
        Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks()) --> chain
    }

    @Test(
        "R2: what the page behind a redirect comes to says nothing of the POST before it, which is not posted again",
        arguments: [301, 302, 303] as [HTTPStatus],
        [
            .failure(.cannotConnectToHost, bytesSent: 0), .failure(.cannotFindHost), .failure(.requestNotProcessed),
            .status(408), .status(421), .status(425), .status(429, headers: ["Retry-After": "1"]),
            .status(413, headers: ["Retry-After": "1"]),
        ] as [MockLoader.Reply]
    )
    func outcomeOfAnotherHop(status: HTTPStatus, reply: MockLoader.Reply) async throws {
        mock.then(redirect(status, to: "/done")).then(reply).then(.status(200))
        let request = try HTTPRequest("http://a.example/order", method: .post, body: .text("tea"))
        let result = await retriedChain.load(request)
        #expect(mock.requests.map(\.method) == [.post, .get])
        #expect(result.attempts.map(\.reason) == [.redirected, .notReplayable])
    }

    @Test("R2: nor is it where the redirect keeps the method, and no byte of the second POST has left")
    func outcomeOfASecondPost() async throws {
        mock.then(redirect(307, to: "/orders")).then(.failure(.cannotConnectToHost, bytesSent: 0)).then(.status(200))
        let request = try HTTPRequest("http://a.example/order", method: .post, body: .text("tea"))
        _ = await retriedChain.load(request)
        #expect(mock.requests.count == 2)
    }

    @Test("R2: a POST that was refused before a refresh, and then did not leave, may be sent again")
    func outcomeAfterARefresh() async throws {
        let oauth = OAuth(store: OAuth.InMemoryTokenStore(OAuth.Token(accessToken: "old", refreshToken: "again"))) {
            _ in
            OAuth.Token(accessToken: "new")
        } logIn: {
            nil
        }
        mock.then(.status(401)).then(.failure(.cannotConnectToHost, bytesSent: 0)).then(.status(200))
        let retry = Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks())
        let request = try HTTPRequest("http://a.example/order", method: .post, body: .text("tea"))
        #expect(try await (retry --> oauth --> mock).response(for: request).status == 200)
        #expect(mock.requests.count == 3)
    }

    @Test("R26: a stage further in may say that a redirect is not followed, or change what it leads to")
    func saidFurtherIn() async throws {
        for isRefused in [true, false] {
            let mock = MockLoader().then(.status(302, headers: ["Location": "/b"])).otherwise(.status(200))
            let stage = ModifyRequest { request in
                var request = request
                if isRefused {
                    request.followsRedirects = false
                } else {
                    request.redirectModifier = { _, redirected, _ in
                        var changed = redirected
                        changed.headers["X-Hop"] = "1"
                        return changed
                    }
                }
                return request
            }
            let result = await (Redirect() --> Retry(.never) --> stage --> mock).load(sampleRequest())
            #expect(result.status == (isRefused ? 302 : 200))
            #expect(mock.requests.map { $0.headers["X-Hop"] } == (isRefused ? [nil] : [nil, "1"]))
        }
    }

    @Test("R26: an idempotency key that a stage makes for each hop does not reach another origin")
    func keyOfAStage() async throws {
        for (field, isRaw) in [(HTTPRequest.IdempotencyKey.fieldName, false), ("X-Order", false), ("X-Order", true)] {
            let mock = MockLoader().then(.status(307, headers: ["Location": "https://b.example/"]))
                .otherwise(.status(500))
            let stage = ModifyRequest { request in
                var request = request
                request.idempotencyKeyField = field
                if isRaw { request.headers[field] = "order-17" } else { request.idempotencyKey = .custom("order-17") }
                return request
            }
            let retry = Retry(.recommended, budgets: nil, clocks: clock.retryClocks())
            let request = try HTTPRequest("https://a.example/", method: .post)
            let result = await (Redirect(clocks: clock.retryClocks()) --> retry --> stage --> mock).load(request)
            #expect(result.status == 500)
            #expect(mock.requests.map { $0.headers[field] != nil } == [true, false])
            #expect(mock.requests.map(\.hasIdempotencyKey) == [true, false])
        }
    }
}
