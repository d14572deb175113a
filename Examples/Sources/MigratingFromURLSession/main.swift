// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The snippets of Documentation/Migrating/FromURLSession.md, each between "Guide" and "End", run against a server with
// the faults that the guide describes.

struct User: Decodable, Sendable { let name: String }

func data(_ base: String, _ server: FaultServer) async throws {
    // Guide: data
    let loader =
        Redirect() --> Retry(RetryPolicy.recommended)
        --> PlatformLoader()
    let response = try await loader.response(
        for: HTTPRequest("\(base)/users/1")
    )
    guard response.status == .ok else {
        throw HTTPError(.badServerResponse, request: response.request)
    }
    let user = try response.decode(User.self)
    // End
    check(user.name == "Ada", "a response is decoded")

    // Guide: session
    let same = try await Session.default.request("\(base)/users/1")
        .validate().serializingDecodable(User.self).value
    // End
    check(same.name == "Ada", "a session does the same")

    // Guide: request
    var request = try HTTPRequest(
        "\(base)/orders",
        method: .post,
        body: .json(["item": "tea"])
    )
    request.headers["Accept"] = "application/json"
    request.idempotencyKey = .generated
    request.timeouts.connect = .seconds(5)
    request.timeouts.idle = .seconds(30)
    request.timeout = .seconds(60)
    let stored = try await loader.response(for: request)
    // End
    check(stored.status == 200 && stored.attempts.count == 2, "a POST with a key is sent again")

    // Guide: no key
    let plain = try HTTPRequest(
        "\(base)/orders?key=a",
        method: .post,
        body: .json(["item": "tea"])
    )
    let refused = try await loader.response(for: plain)
    // End
    check(refused.status == 503 && refused.attempts.count == 1, "a POST without a key is not")
}

func errors(_ base: String) async throws {
    let loader = PlatformLoader()
    // Guide: errors
    var request = try HTTPRequest("\(base)/hang")
    request.attemptTimeout = .milliseconds(200)
    do {
        _ = try await loader.response(for: request)
    } catch {
        switch error.code {
        case .timedOut: print("too slow")
        case .notConnectedToInternet, .networkConnectionLost:
            print("the network is gone")
        default: print(error)
        }
    }
    // End
    if case .failure(let error) = await loader.load(request) { check(error.code == .timedOut, "it times out") }
}

func files(_ base: String, _ server: FaultServer, _ folder: URL) async throws {
    // Guide: upload
    let picture = folder.appending(path: "picture.bin")
    try Data(repeating: 1, count: 50_000).write(to: picture)
    let upload = Session.default.upload(
        picture,
        to: "\(base)/echo",
        method: .put
    )
    .uploadProgress { print($0.fractionCompleted ?? 0) }
    _ = try await upload.validate().serializingData().value
    // End
    check(server.requests(toPath: "/echo").first?.bodyLength == 50_000, "a file is sent")

    // Guide: download
    let target = folder.appending(path: "image.bin")
    let download = Session.default.download(
        "\(base)/bytes/200000?cut=50000&times=1",
        to: target
    )
    let file = try await download.validate()
        .serializingDownloadedFileURL().value
    // End
    check(try Data(contentsOf: file).count == 200_000, "a download goes on by itself where it was cut")

    // Guide: bytes
    var streamed = try HTTPRequest("\(base)/bytes/50000")
    streamed.streamsResponse = true
    let response = try await PlatformLoader().response(for: streamed)
    var count = 0
    for try await chunk in response.body { count += chunk.count }
    // End
    check(count == 50_000, "a body is read as it arrives")
}

func tasks(_ base: String) async throws {
    let loader = PlatformLoader()
    // Guide: callback
    let task = loader.load(try HTTPRequest("\(base)/hang?key=a")) {
        result in
        print(result)
    }
    task.cancel()
    // End
    if case .failure(let error) = await task.result { check(error.code == .cancelled, "a task is cancelled") }

    // Guide: configuration
    var configuration = CurlLoader.Configuration()
    configuration.maximumConnectionsPerHost = 6
    configuration.userAgent = "catalogue/1.0"
    let configured = try CurlLoader(configuration: configuration)
    let response = try await configured.response(
        for: HTTPRequest("\(base)/ok")
    )
    // End
    check(response.status == .ok, "a loader with settings of one's own")
}

let server = try FaultServer()
let base = server.baseURL
server.on("/users/1") { _ in
    [.respond(.init(200, headers: [("Content-Type", "application/json")], body: #"{"name":"Ada"}"#))]
}
server.on("/orders") { request in [.respond(request.occurrence == 1 ? .init(503, body: "busy") : .ok)] }
let folder = FileManager.default.temporaryDirectory.appending(path: "refrain-guide-\(server.port)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
try await data(base, server)
try await errors(base)
try await files(base, server, folder)
try await tasks(base)
try FileManager.default.removeItem(at: folder)
server.stop()
print("everything is as the guide says")
