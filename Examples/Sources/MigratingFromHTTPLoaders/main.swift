// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The snippets of Documentation/Migrating/FromHTTPLoaders.md, each between "Guide" and "End", run against a server with
// the faults that the guide describes.

struct Person: Codable, Sendable { let name: String }

func values(_ base: String, _ server: FaultServer) async throws {
    let loader = PlatformLoader()
    // Guide: values
    var request = try HTTPRequest(
        "\(base)/people",
        method: .post,
        body: .json(Person(name: "Ada"))
    )
    request.headers["Accept"] = "application/json"
    let result = await loader.load(request)
    switch result {
    case .success(let response):
        print(
            response.status,
            response.headers["Content-Type"] ?? "",
            response.text ?? ""
        )
    case .failure(let error):
        print(error.code, error.underlyingError ?? "")
    }

    let form = HTTPBody.form([("name", "Ada"), ("city", "London")])
    let parts = try HTTPBody.multipart([
        .text("name", "Ada"),
        .bytes("photo", [1, 2, 3], filename: "a.png"),
    ])
    // End
    check(try result.get().status == 200, "a request is loaded")
    check(server.requests(toPath: "/people").first?.header("Content-Type") == "application/json", "JSON names itself")
    check(form.contentType == "application/x-www-form-urlencoded", "a form names itself")
    check(parts.replayability == .replayable, "parts in memory can be sent again")

    let person = try await loader.response(for: HTTPRequest("\(base)/people")).decode(Person.self)
    check(person.name == "Ada", "a response is decoded")
}

// Guide: option
enum Priority: HTTPRequestOption { static let defaultValue = 0 }

extension HTTPRequest {
    var priority: Int {
        get { self[option: Priority.self] }
        set { self[option: Priority.self] = newValue }
    }
}
// End

// Guide: strategy
struct WarmingUp: HTTPRetryStrategy {
    func retryDelay(for result: HTTPResult) -> Duration? {
        guard case .success(let response) = result,
            response.status == 503
        else { return nil }
        return response.headers["Retry-After"].flatMap {
            Int64($0)
        }.map { .seconds($0) } ?? .milliseconds(10)
    }

    func decide(_ result: HTTPResult, in context: RetryContext)
        async -> RetryDecision
    {
        guard context.attempt.countedAttempts < 4,
            let delay = retryDelay(for: result)
        else { return .finish() }
        return .retry(after: delay)
    }
}
// End

func retries(_ base: String, _ server: FaultServer) async throws {
    var request = try HTTPRequest("\(base)/ok")
    check(request.priority == 0, "an option has its default")
    request.priority = 3
    check(request.priority == 3, "and is set on a request")

    // Guide: retry
    let loader = Retry() --> PlatformLoader()
    var warm = try HTTPRequest("\(base)/status/503?times=3")
    warm.retryStrategy = WarmingUp()
    let response = try await loader.response(for: warm)

    var steady = try HTTPRequest("\(base)/status/500?times=2")
    steady.retryStrategy = Backoff.constant(
        delay: .milliseconds(10),
        maxAttempts: 3
    )
    let other = try await loader.response(for: steady)
    // End
    check(response.status == 200 && server.count(path: "/status/503") == 4, "a strategy of one's own")
    check(other.status == 200 && other.attempts.count == 3, "a schedule is a strategy")
    let bare = try await loader.response(for: HTTPRequest("\(base)/status/503?key=a"))
    check(bare.attempts.count == 1, "a bare chain sends once")

    // Guide: server directed
    let polite = Retry(RetryAfterStrategy()) --> PlatformLoader()
    let waited = try await polite.response(
        for: HTTPRequest("\(base)/status/429?times=1&retry-after=1")
    )
    // End
    check(waited.attempts.first.map { $0.delay >= .seconds(1) } == true, "Retry-After is kept")
}

func throttles(_ base: String, _ server: FaultServer) async throws {
    // Guide: throttle
    let throttle = Throttle(maximumNumberOfRequests: 1)
    let loader = throttle --> PlatformLoader()
    let slow = loader.load(try HTTPRequest("\(base)/delay?ms=300")) {
        _ in
    }
    while throttle.numberOfRunningRequests == 0 { await Task.yield() }
    var refresh = try HTTPRequest("\(base)/ok?refresh=1")
    refresh.throttle = .never
    _ = try await loader.response(for: refresh)
    throttle.setMaximumNumberOfRequests(4)
    // End
    check(server.count(path: "/ok?refresh=1") == 1, "a request that is never throttled passes")
    _ = await slow.result
}

/// Loads A, which fails three times, then B; returns the order in which the server received them.
func order(_ loader: some HTTPLoader, _ base: String, _ server: FaultServer, _ key: String) async throws -> String {
    var first = try HTTPRequest("\(base)/status/503?times=3&key=A\(key)")
    first.retryStrategy = Backoff.constant(delay: .milliseconds(700), maxAttempts: 4)
    let task = loader.load(first) { _ in }
    while server.count(path: "/status/503?times=3&key=A\(key)") == 0 { await Task.yield() }
    _ = try await loader.response(for: HTTPRequest("\(base)/ok?key=B\(key)"))
    _ = await task.result
    let paths = server.log.map(\.path)
    return paths.compactMap { $0.hasSuffix("key=A\(key)") ? "A" : $0.hasSuffix("key=B\(key)") ? "B" : nil }.joined()
}

func orders(_ base: String, _ server: FaultServer) async throws {
    // Guide: orders
    let inOrder =
        Throttle(maximumNumberOfRequests: 1) --> Retry()
        --> PlatformLoader()
    let overtaking =
        Retry() --> Throttle(maximumNumberOfRequests: 1)
        --> PlatformLoader()
    // End
    check(try await order(inOrder, base, server, "1") == "AAAAB", "Throttle, then Retry: B waits for all attempts of A")
    let seen = try await order(overtaking, base, server, "2")
    check(seen.hasPrefix("A") && seen.hasSuffix("A") && seen.contains("B"), "Retry, then Throttle: B passes (\(seen))")
}

func stages(_ base: String, _ server: FaultServer) async throws {
    // Guide: stages
    let staging = ServerEnvironment(
        scheme: "http",
        host: "127.0.0.1",
        port: Int(server.port),
        pathPrefix: "/v1",
        headers: ["X-Client": "catalogue"]
    )
    let tagged = ModifyRequest { request in
        var request = request
        request.headers["X-Tag"] = "a"
        return request
    }
    let loader =
        ApplyEnvironment(staging) --> tagged --> PrintLoader()
        --> PlatformLoader()
    let response = try await loader.response(
        for: HTTPRequest(path: "people")
    )
    // End
    check(response.status == 200, "a relative URL is completed")
    let sent = server.requests(toPath: "/v1/people").first
    check(sent?.header("X-Client") == "catalogue" && sent?.header("X-Tag") == "a", "fields are added on the way")

    // Guide: mock
    let mock = MockLoader()
        .then(.status(503))
        .then { request in
            .success(
                HTTPResponse(
                    request: request,
                    status: 200,
                    body: .text("ok")
                )
            )
        }
    let retrying = Retry(Backoff.immediately()) --> mock
    let stubbed = try await retrying.response(
        for: HTTPRequest("https://api.example.com/people")
    )

    let anyLoader = AnyLoader(retrying)
    // End
    check(stubbed.text == "ok" && mock.requests.count == 2, "a mock answers in order")
    await anyLoader.reset()
    check(mock.resets == 1, "a reset goes through the chain")
}

func resets(_ base: String, _ server: FaultServer) async throws {
    // Guide: reset
    let loader =
        ResetGuard() --> Retry(RetryPolicy.recommended)
        --> PlatformLoader()
    let task = loader.load(try HTTPRequest("\(base)/hang")) {
        result in print(result)
    }
    task.addCancelHandler { print("\(task.id) is no longer wanted") }
    task.addCompletionHandler { _ in print("it is over") }
    while server.count(path: "/hang") == 0 { await Task.yield() }
    await loader.reset()
    let result = await task.result
    // End
    guard case .failure(let error) = result else { return check(false, "a reset ends the request") }
    check(error.code == .cancelled, "a reset ends what is under way")
    check(try await loader.response(for: HTTPRequest("\(base)/ok")).status == 200, "and the chain goes on afterwards")

    // Guide: task
    let other = (Autocancel() --> PlatformLoader()).load(
        try HTTPRequest("\(base)/hang?key=a")
    ) { _ in }
    other.cancel()
    // End
    if case .failure(let error) = await other.result { check(error.code == .cancelled, "a task is cancelled") }
}

func sharing(_ base: String, _ server: FaultServer) async throws {
    // Guide: deduplicate
    let stage = Deduplicate()
    let loader =
        ResetGuard() --> stage --> Retry(RetryPolicy.recommended)
        --> PlatformLoader()
    async let first = loader.response(
        for: HTTPRequest("\(base)/delay?ms=300")
    )
    async let second = loader.response(
        for: HTTPRequest("\(base)/delay?ms=300")
    )
    let both = try await [first, second]
    // End
    check(both.allSatisfy { $0.status == 200 }, "each caller has its answer")
    check((1...2).contains(server.count(path: "/delay")), "and those that overlap share an exchange")
}

func authentication(_ base: String, _ server: FaultServer) async throws {
    // Guide: basic
    let basic = BasicAuth { request in
        // Once for each origin; nil where the user would not.
        print("credentials for \(request.origin)")
        return try BasicAuth.Credentials(
            user: "ada",
            password: "right"
        )
    }
    let signed =
        Retry(RetryPolicy.recommended) --> basic --> PlatformLoader()
    let page = try await signed.response(
        for: HTTPRequest("\(base)/basic")
    )
    // End
    check(page.status == 200, "the user is asked, and the request is signed")
    check(server.count(path: "/basic") == 2, "when the server has asked for it")

    // Guide: oauth
    let store = OAuth.InMemoryTokenStore(
        OAuth.Token(accessToken: "expired", refreshToken: "again")
    )
    let oauth = OAuth(store: store, refreshWindow: .standard) {
        token in
        var request = try HTTPRequest("\(base)/token", method: .post)
        request.body = .form([
            ("refresh_token", token.refreshToken ?? "")
        ])
        let text =
            try await PlatformLoader().response(for: request).text
            ?? ""
        return OAuth.Token(
            accessToken: text,
            refreshToken: token.refreshToken
        )
    } logIn: {
        nil
    }
    let bearer =
        Retry(RetryPolicy.recommended) --> oauth --> PlatformLoader()
    let secret = try await bearer.response(
        for: HTTPRequest("\(base)/auth?token=fresh")
    )
    // End
    check(secret.status == 200, "the token is refreshed")
    check(server.count(path: "/token") == 1, "once")
    check(server.count(path: "/auth") == 2, "and the request is sent once more")

    // Guide: auth
    let auth = Auth([.basic: basic, .oauth: oauth], default: .oauth)
    let routed =
        ResetGuard() --> Retry(RetryPolicy.recommended) --> auth
        --> PlatformLoader()
    var request = try HTTPRequest("\(base)/basic")
    request.authentication = .basic
    let asAda = try await routed.response(for: request)
    let asToken = try await routed.response(
        for: HTTPRequest("\(base)/auth?token=fresh")
    )
    // End
    check(asAda.status == 200, "what was given is remembered")
    check(asToken.status == 200, "and the token is sent where the default holds")
}

let server = try FaultServer()
let base = server.baseURL
for path in ["/people", "/v1/people"] {
    server.on(path) { _ in
        [.respond(.init(200, headers: [("Content-Type", "application/json")], body: #"{"name":"Ada"}"#))]
    }
}
try await values(base, server)
try await retries(base, server)
try await throttles(base, server)
try await orders(base, server)
try await stages(base, server)
try await resets(base, server)
server.on("/basic") { request in
    // ada:right
    let isRight = request.header("Authorization") == "Basic YWRhOnJpZ2h0"
    let headers = [("WWW-Authenticate", #"Basic realm="catalogue""#)]
    return [.respond(isRight ? .ok : .init(401, headers: headers))]
}
server.on("/token") { _ in [.respond(.init(200, body: "fresh"))] }
try await sharing(base, server)
try await authentication(base, server)
server.stop()
print("everything is as the guide says")
