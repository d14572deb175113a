// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The snippets of Documentation/Migrating/FromAlamofire.md, each between "Guide" and "End", run against a server with
// the faults that the guide describes.

// Guide: adapter
struct Language: RequestAdapter {
    func adapt(_ request: HTTPRequest, for session: Session)
        async throws -> HTTPRequest
    {
        var request = request
        request.headers["Accept-Language"] = "en"
        return request
    }
}
// End

// Guide: adapter state
struct Trace: RequestAdapter {
    func adapt(_ request: HTTPRequest, for session: Session)
        async throws -> HTTPRequest
    { request }

    func adapt(
        _ request: HTTPRequest,
        using state: RequestAdapterState
    ) async throws -> HTTPRequest {
        var request = request
        request.headers["X-Trace"] =
            "\(state.requestID) \(state.attempt)"
        return request
    }
}
// End

// Guide: retrier
struct WhileWarmingUp: RequestRetrier {
    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error
    ) async -> RetryResult {
        guard request.response?.status == 503 else {
            return .doNotRetry
        }
        return request.retryCount < 3
            ? .retryWithDelay(.milliseconds(10))
            : .doNotRetryWithError(NeverWarm())
    }
}

struct NeverWarm: Error {}
// End

func adaptersAndRetriers(_ base: String, _ server: FaultServer) async throws {
    // Guide: interceptor
    let interceptor = Interceptor(
        adapters: [Language(), Trace()],
        retriers: [WhileWarmingUp()]
    )
    let session = Session(interceptor: interceptor)
    let text = try await session.request("\(base)/status/503?times=2")
        .serializingString().value
    // End
    check(text == "ok\n", "a retrier brings a server through its warming up")
    let sent = server.requests(toPath: "/status/503")
    check(sent.map { $0.header("X-Trace")?.last } == ["1", "2", "3"], "adapters run before each attempt")
    check(sent.allSatisfy { $0.header("Accept-Language") == "en" }, "both adapters run")

    let gaveUp = await session.request("\(base)/status/503?key=a").serializingData().result
    if case .failure(.requestRetryFailed(let error, _, _)) = gaveUp {
        check(error is NeverWarm, "a retrier's error ends the request")
    } else {
        check(false, "a retrier's error ends the request")
    }
}

func closures(_ base: String, _ server: FaultServer) async throws {
    // Guide: closures
    let signed = Adapter { request, _ in
        var request = request
        request.headers["X-Signature"] = "abc"
        return request
    }
    // The form with a completion is there, too; one that is never
    // called fails the request instead of hanging it.
    let patient = Retrier { request, _, _, completion in
        completion(
            request.retryCount < 2
                ? .retryWithDelay(.milliseconds(10)) : .doNotRetry
        )
    }
    let session = Session(
        interceptor: Interceptor(adapter: signed, retrier: patient)
    )
    // End
    _ = try await session.request("\(base)/status/500?times=1").serializingString().value
    check(server.requests(toPath: "/status/500").last?.header("X-Signature") == "abc", "closures adapt")

    let silent = Adapter { _, _, _ in }
    let forgetful = Session(interceptor: silent)
    let result = await forgetful.request("\(base)/ok").serializingData().result
    if case .failure(.requestAdaptationFailed(let error, _, _)) = result {
        check(error is Interceptor.CompletionDropped, "a completion that is never called fails the request")
    } else {
        check(false, "a completion that is never called fails the request")
    }
}

func policies(_ base: String, _ server: FaultServer) async throws {
    // Guide: retry policy
    let policy = RetryPolicy(
        retryLimit: 3,
        exponentialBackoffBase: 2,
        exponentialBackoffScale: 0.01,
        retryableHTTPMethods: RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: RetryPolicy
            .defaultRetryableHTTPStatusCodes.union([429]),
        retryableErrorCodes: RetryPolicy.defaultRetryableErrorCodes
    )
    let session = Session(interceptor: policy)
    let response = await session.request("\(base)/status/502?times=2")
        .serializingString().response
    for attempt in response.attempts { print(attempt) }
    // End
    check(response.attempts.map(\.delay) == [.milliseconds(10), .milliseconds(20), .zero], "base 2, scale 0.01")

    // Guide: accessors
    let likeAlamofire = Session(interceptor: .retryPolicy)
    let byTheRules = Session(interceptor: .recommendedRetryPolicy)
    let onlyBroken = Session(interceptor: .connectionLostRetryPolicy)
    // End
    check(likeAlamofire.interceptor as? RetryPolicy == RetryPolicy(), "the policy with Alamofire's defaults")
    check(byTheRules.interceptor as? RetryPolicy == .recommended, "the policy of a session that is given none")
    let lost = await onlyBroken.request("\(base)/status/503?key=b").serializingData().response
    check(lost.attempts.count == 1, "ConnectionLostRetryPolicy retries no status")
}

// Guide: wrapped policy
struct ExceptMaintenance: RequestInterceptor {
    let policy = RetryPolicy.recommended

    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error
    ) async -> RetryResult {
        guard request.response?.headers["X-Maintenance"] == nil
        else { return .doNotRetry }
        return await policy.retry(
            request,
            for: session,
            dueTo: error
        )
    }
}
// End

func composition(_ base: String, _ server: FaultServer) async throws {
    server.on("/maintenance") { _ in [.respond(.init(503, headers: [("X-Maintenance", "1")]))] }
    let session = Session(interceptor: ExceptMaintenance())
    _ = await session.request("\(base)/maintenance").serializingData().result
    check(server.count(path: "/maintenance") == 1, "a wrapper changes a policy's decision")
    _ = try await session.request("\(base)/status/503?times=1&key=c").serializingString().value
    check(server.count(path: "/status/503?times=1&key=c") == 2, "and leaves others as they are")

    // Guide: order
    func mark(_ letter: String) -> Adapter {
        Adapter { request, _ in
            var request = request
            request.headers["X-Order"] =
                (request.headers["X-Order"] ?? "") + letter
            return request
        }
    }
    let marked = Session(interceptor: mark("s"))
    let request = marked.request("\(base)/ok", interceptor: mark("r"))
    _ = try await request.serializingString().value
    // End
    check(request.request?.headers["X-Order"] == "sr", "the session's interceptor comes first, then the request's")
}

func offline(_ base: String, _ server: FaultServer) async throws {
    // Guide: offline
    let session = Session(
        interceptor: Interceptor(interceptors: [
            .offlineRetrier, .recommendedRetryPolicy,
        ])
    )
    // End
    check((session.interceptor as? Interceptor)?.retriers.first is OfflineRetrier, "the offline retrier comes first")
    check(OfflineRetrier().maximumWait == .seconds(5), "it waits for 5 s at most")

    server.on("/gone") { request in request.occurrence == 1 ? [.reset] : [.respond(.ok)] }
    let retrier = OfflineRetrier(maximumWait: .seconds(5), monitor: ComesBack())
    let once = RetryPolicy(retryLimit: 0)
    let offline = Session(interceptor: Interceptor(interceptors: [retrier, once]))
    let response = await offline.request("\(base)/gone").serializingString().response
    check(response.value == "ok\n", "a request is sent again when the network is back")
    check(response.attempts.first?.reason == .networkReturned, "though the policy allows no second attempt")
}

/// A network that is unavailable, and becomes available when it is awaited.
struct ComesBack: OfflineRetrier.NetworkMonitor {
    var isOnline: Bool { false }

    func whenOnline(within limit: Duration, _ completion: @escaping @Sendable (Bool) -> Void) { completion(true) }
}

// Guide: user
struct User: Decodable, Sendable { let name: String }
// End

func requests(_ base: String, _ server: FaultServer, _ folder: URL) async throws {
    let session = Session()
    // Guide: decodable
    let user = try await session.request(
        "\(base)/users/1",
        parameters: ["verbose": true]
    )
    .validate()
    .serializingDecodable(User.self)
    .value
    // End
    check(user.name == "Ada", "a user is decoded")
    check(server.count(path: "/users/1?verbose=1") == 1, "parameters of a GET go into the query")

    // Guide: upload
    let upload = session.upload(
        Data(repeating: 7, count: 100_000),
        to: "\(base)/echo"
    )
    upload.uploadProgress { progress in
        print("sent \(progress.completed) of \(progress.total ?? 0)")
    }
    _ = try await upload.validate().serializingData().value

    let parts: [HTTPBody.Part] = [
        .text("title", "A"),
        .bytes("file", Array("abc".utf8), filename: "a.txt"),
    ]
    _ = try await session.upload(
        multipartFormData: parts,
        to: "\(base)/form"
    ).validate().serializingData().value
    // End
    check(upload.uploadProgress.completed == 100_000, "progress counts the bytes of the body")
    let form = server.requests(toPath: "/form").first?.header("Content-Type") ?? ""
    check(form.hasPrefix("multipart/form-data; boundary="), "a form of several parts")

    // Guide: download
    let file = folder.appending(path: "image.bin")
    let download = session.download(
        "\(base)/bytes/300000?cut=100000&times=2",
        to: file
    )
    let saved = try await download.validate()
        .serializingDownloadedFileURL().value
    // End
    check(try Data(contentsOf: saved).count == 300_000, "a download that is cut twice is whole in the end")
    check(download.attempts.count == 3, "it goes on by Range")

    // Guide: stream
    var count = 0
    for try await chunk in session.streamRequest(
        "\(base)/bytes/50000"
    ).validate().chunks { count += chunk.count }
    // End
    check(count == 50_000, "a stream brings every byte")
}

func lifecycle(_ base: String) async throws {
    // Guide: lifecycle
    let session = Session()
    let request = session.request("\(base)/hang")
    let task = request.serializingData()
    print(request.currentState, request.cURLDescription())
    session.withAllRequests { requests in
        print("\(requests.count) under way")
    }
    session.cancelAllRequests()
    let result = await task.result
    // End
    check(request.isCancelled, "a cancelled request is cancelled")
    if case .failure(.explicitlyCancelled) = result {
        check(true, "and says so")
    } else {
        check(false, "and says so: \(result)")
    }
}

func validation(_ base: String) async throws {
    let session = Session(interceptor: nil)
    // Guide: validation
    let result = await session.request("\(base)/status/404")
        .validate(statusCode: 200..<300)
        .validate(contentType: ["application/json"])
        .validate { _, response, data in
            data?.isEmpty == false
                ? .success(())
                : .failure(
                    HTTPError(
                        .zeroByteResource,
                        request: response.request
                    )
                )
        }
        .serializingString().result
    switch result {
    case .success(let text): print(text)
    case .failure(
        .responseValidationFailed(
            .unacceptableStatusCode(let code),
            _
        )
    ): print("refused: \(code)")
    case .failure(.sessionTaskFailed(let error)):
        print("no answer: \(error.code)")
    case .failure(let error): print(error)
    }
    // End
    guard case .failure(let error) = result else { return check(false, "404 is refused") }
    check(error.responseCode == 404, "the first failed check wins")
}

func parameters(_ base: String, _ server: FaultServer) async throws {
    let session = Session()
    // Guide: parameters
    let order: Parameters = [
        "item": "tea", "sizes": [1, 2], "to": ["city": "Ulm"],
    ]
    let asForm = session.request(
        "\(base)/echo",
        method: .post,
        parameters: order
    )
    let asJSON = session.request(
        "\(base)/echo",
        method: .post,
        parameters: order,
        encoding: JSONEncoding.default
    )
    let fromValue = session.request(
        "\(base)/echo",
        method: .post,
        parameters: Login(name: "ada"),
        encoder: JSONParameterEncoder.default
    )
    // End
    for request in [asForm, asJSON, fromValue] { _ = try await request.serializingData().value }
    let json = try await asJSON.firstRequest?.body.collect()
    check(json == Array(#"{"item":"tea","sizes":[1,2],"to":{"city":"Ulm"}}"#.utf8), "parameters as JSON")
    let value = try await fromValue.firstRequest?.body.collect()
    check(value == Array(#"{"name":"ada"}"#.utf8), "an Encodable value as JSON")
    let form = String(decoding: try await asForm.firstRequest?.body.collect() ?? [], as: UTF8.self)
    check(form == "item=tea&sizes%5B%5D=1&sizes%5B%5D=2&to%5Bcity%5D=Ulm", "a form: \(form)")

    let withBody = session.request(HTTPRequest(try "\(base)/ok?body=1".asURL(), body: .text("x")))
    let refused = await withBody.serializingData().result
    if case .failure(.requestValidationFailed(.bodyDataInGETRequest)) = refused {
        check(server.count(path: "/ok?body=1") == 0, "a GET with a body is not sent")
    } else {
        check(false, "a GET with a body is refused")
    }
}

struct Login: Encodable, Sendable { let name: String }

// Guide: credential
struct Token: AuthenticationCredential {
    let access: String
    var requiresRefresh: Bool { false }
}

struct TokenAuthenticator: Authenticator {
    let base: String

    func apply(
        _ credential: Token,
        to request: inout HTTPRequest
    ) {
        request.headers["Authorization"] =
            "Bearer \(credential.access)"
    }

    func refresh(_ credential: Token, for session: Session)
        async throws -> Token
    {
        let text = try await session.request(
            "\(base)/token",
            method: .post
        ).validate().serializingString().value
        return Token(access: text)
    }

    func didRequest(
        _ request: HTTPRequest,
        with response: HTTPResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool { response.status == .unauthorized }

    func isRequest(
        _ request: HTTPRequest,
        authenticatedWith credential: Token
    ) -> Bool {
        request.headers["Authorization"]
            == "Bearer \(credential.access)"
    }
}
// End

func authentication(_ base: String, _ server: FaultServer) async throws {
    server.on("/token") { _ in [.respond(.init(200, headers: [("Content-Type", "text/plain")], body: "new"))] }
    server.on("/me") { request in
        [.respond(request.header("Authorization") == "Bearer new" ? .ok : .init(401, body: "no"))]
    }
    // Guide: authentication
    let authentication = AuthenticationInterceptor(
        authenticator: TokenAuthenticator(base: base),
        credential: Token(access: "old")
    )
    let session = Session(
        interceptor: Interceptor(interceptors: [
            authentication, .recommendedRetryPolicy,
        ])
    )
    async let first = session.request("\(base)/me").validate()
        .serializingString().value
    async let second = session.request("\(base)/me").validate()
        .serializingString().value
    _ = try await (first, second)
    // End
    check(server.count(path: "/token") == 1, "two requests that are refused make one refresh")
    check(authentication.credential?.access == "new", "the new credential is kept")
    check(authentication.refreshWindow == .standard, "five refreshes in 30 s by default")
}

// Guide: monitor
struct RetryLog: EventMonitor {
    func request(
        _ request: Request,
        willRetryAfter delay: Duration,
        reason: RetryReason
    ) {
        print(
            "\(request): again after \(delay), \(reason.rawValue)"
        )
    }

    func request(
        _ request: Request,
        didGiveUp reason: RetryReason
    ) { print("\(request): \(reason.rawValue)") }
}
// End

func monitors(_ base: String) async throws {
    // Guide: monitors
    let metrics = MetricsMonitor()
    let session = Session(eventMonitors: [
        RetryLog(), LogMonitor(), metrics,
    ])
    _ = try await session.request("\(base)/status/503?times=1&key=d")
        .serializingString().value
    print(metrics.snapshot.prometheusText)
    // End
    check(metrics.snapshot.retries.values.reduce(0, +) == 1, "the retry is counted")
}

// Guide: target
struct UserAPI: TargetType {
    let baseURL: URL
    let id: Int

    var path: String { "/users/\(id)" }
    var method: HTTPMethod { .get }
    var task: TargetTask { .requestPlain }
    var headers: [String: String]? {
        ["Accept": "application/json"]
    }
    var validationType: ValidationType { .successCodes }
    var sampleData: Data { Data(#"{"name":"Sample"}"#.utf8) }
}
// End

func targets(_ base: String) async throws {
    // Guide: targets
    let target = UserAPI(baseURL: try base.asURL(), id: 1)
    let session = Session()
    let user = try await session.request(target).serializingDecodable(
        User.self
    ).value
    let stubs = Session(loader: Session.TargetStubs())
    let stubbed = try await stubs.request(target)
        .serializingDecodable(User.self).value
    // End
    check(user.name == "Ada", "a target is requested")
    check(stubbed.name == "Sample", "a stub answers with sample data")
}

func serverTrust(_ base: String) async throws {
    // Guide: server trust
    let trust = try ServerTrust(evaluators: [
        "api.example.com": .publicKeys([
            "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        ]),
        "localhost": .disabledAndInsecure,
    ])
    let session = try Session(serverTrust: trust)
    // End
    let response = await session.request("https://elsewhere.example/").serializingString().response
    check(
        "\(String(describing: response.error))".contains("elsewhere.example"),
        "a host without an evaluator is refused"
    )
    check(
        try await session.request("\(base)/ok").serializingString().value == "ok\n",
        "trust is not evaluated without TLS"
    )
}

let server = try FaultServer()
let base = server.baseURL
server.on("/users/1") { _ in
    [.respond(.init(200, headers: [("Content-Type", "application/json")], body: #"{"name":"Ada"}"#))]
}
server.on("/form") { _ in [.respond(.ok)] }
let folder = FileManager.default.temporaryDirectory.appending(path: "refrain-guide-\(server.port)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

try await adaptersAndRetriers(base, server)
try await closures(base, server)
try await policies(base, server)
try await composition(base, server)
try await offline(base, server)
try await requests(base, server, folder)
try await lifecycle(base)
try await validation(base)
try await parameters(base, server)
try await authentication(base, server)
try await monitors(base)
try await targets(base)
try await serverTrust(base)

try FileManager.default.removeItem(at: folder)
server.stop()
print("everything is as the guide says")
