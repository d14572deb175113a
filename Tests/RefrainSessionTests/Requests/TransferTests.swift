// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Uploads, downloads and streams over real sockets", .timeLimit(.minutes(10)))
struct TransferTests {
    private let server: FaultServer
    private let session: Session
    private let folder: TemporaryFolder

    init() throws {
        server = try FaultServer()
        folder = try TemporaryFolder()
        var settings = Session.Settings()
        settings.budgets = nil
        settings.random = RandomSource(seed: 1)
        let backoff = Backoff.constant(delay: .milliseconds(1), maxAttempts: 4)
        session = Session(
            loader: CurlLoader(),
            interceptor: RetryPolicy.recommended.with(schedule: backoff),
            settings: settings
        )
    }

    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    @Test("a small app's calls go over a real socket: a list, a POST as JSON, a query")
    func plain() async throws {
        struct Echo: Decodable, Sendable { var method: String; var path: String; var body: String }
        let posted = try await session.request(
            "\(server.baseURL)/echo",
            method: .post,
            parameters: ["name": "Ada"],
            encoder: .json
        ).validate().serializingDecodable(Echo.self).value
        #expect(posted.method == "POST")
        #expect(posted.body == #"{"name":"Ada"}"#)
        let queried = try await session.request("\(server.baseURL)/echo", parameters: ["ids": [1, 2], "q": "a b"])
            .validate().serializingDecodable(Echo.self).value
        #expect(queried.path == "/echo?ids%5B%5D=1&ids%5B%5D=2&q=a%20b")
    }

    @Test("R3: each recorded attempt is one request on the wire")
    func wireCount() async throws {
        let request = session.request("\(server.baseURL)/status/503?times=2").validate()
        let response = await request.serializingString().response
        #expect(response.error == nil)
        #expect(response.attempts.count == 3)
        #expect(server.count(path: "/status/503") == 3)
    }

    @Test("an upload of bytes counts its progress up to the end")
    func uploadData() async throws {
        server.on("/up") { request in [.respond(.init(200, body: "\(request.bodyLength)"))] }
        let moments = Journal<Request.TransferProgress>()
        let request = session.upload(Data(Self.bytes(300_000)), to: "\(server.baseURL)/up")
        let text = try await request.uploadProgress { moments.append($0) }.validate().serializingString().value
        #expect(text == "300000")
        let completed = moments.entries.map(\.completed)
        #expect(completed == completed.sorted())
        #expect(completed.last == 300_000)
        #expect(moments.entries.allSatisfy { $0.total == 300_000 })
        #expect(request.uploadProgress.fractionCompleted == 1)
    }

    @Test("R4: an upload of a file is read anew for its second attempt, and begins its progress anew")
    func uploadFile() async throws {
        let file = folder.file("source")
        try Data(Self.bytes(200_000)).write(to: file)
        server.on("/up") { request in
            request.occurrence == 1 ? [.respond(.init(503))] : [.respond(.init(200, body: "\(request.bodyLength)"))]
        }
        let moments = Journal<Int64>()
        let text = try await session.upload(file, to: "\(server.baseURL)/up", method: .put)
            .uploadProgress { moments.append($0.completed) }
            .validate().serializingString().value
        #expect(text == "200000")
        #expect(moments.entries.count { $0 == 200_000 } == 2)
        #expect(server.requests(toPath: "/up").map(\.bodyLength) == [200_000, 200_000])
    }

    @Test("a file that is not there fails the upload before anything is sent")
    func missingFile() async {
        let request = session.upload(folder.file("nothing"), to: "\(server.baseURL)/up", method: .put)
        #expect(await request.serializingData().response.error?.transportCode == .fileDoesNotExist)
        #expect(server.count(path: "/up") == 0)
    }

    @Test("R4: a file that vanishes between two attempts ends the upload with the file's error")
    func vanishingFile() async throws {
        let file = folder.file("source")
        try Data(Self.bytes(1000)).write(to: file)
        server.on("/up") { _ in
            try? FileManager.default.removeItem(at: file)
            return [.respond(.init(503))]
        }
        let request = session.upload(file, to: "\(server.baseURL)/up", method: .put)
        #expect(await request.serializingData().response.error?.transportCode == .fileDoesNotExist)
        #expect(server.count(path: "/up") == 1)
    }

    @Test("a file that grows between two attempts is sent as long as it is at each")
    func growingFile() async throws {
        let file = folder.file("source")
        try Data(Self.bytes(1000)).write(to: file)
        server.on("/up") { request in
            try? Data(Self.bytes(1500)).write(to: file)
            return request.occurrence == 1 ? [.respond(.init(503))] : [.respond(.init(200, body: "ok"))]
        }
        let request = session.upload(file, to: "\(server.baseURL)/up", method: .put)
        #expect(try await request.validate().serializingString().value == "ok")
        #expect(server.requests(toPath: "/up").map(\.bodyLength) == [1000, 1500])
    }

    @Test("R27: hundreds of refused requests over real sockets make one refresh, through the same session")
    func refreshOverSockets() async throws {
        server.on("/data") { request in
            let token = request.headers.first { $0.name.lowercased() == "authorization" }?.value
            return token == "Bearer t2" ? [.respond(.init(200, body: "data"))] : [.respond(.init(401, body: "no"))]
        }
        server.on("/token") { _ in [.respond(.init(200, body: "t2"))] }
        let base = server.baseURL
        let authenticator = TokenAuthenticator { _, session in
            Token(value: try await session.request("\(base)/token", method: .post).validate().serializingString().value)
        }
        let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token(value: "t1"))
        let session = Session(loader: CurlLoader(), interceptor: interceptor)
        let tasks = (0..<200).map { _ in
            session.request("\(base)/data", method: .post, parameters: ["a": 1]).validate().serializingString()
        }
        for task in tasks { #expect(try await task.value == "data") }
        #expect(server.count(path: "/token") == 1)
    }

    @Test("R4: a stream that can be read once is sent once")
    func oneShotUpload() async {
        server.on("/up") { _ in [.respond(.init(503))] }
        let stream = AsyncStream<[UInt8]> { continuation in
            continuation.yield(Self.bytes(1000))
            continuation.finish()
        }
        let request = session.upload(.oneShot(stream), to: "\(server.baseURL)/up", method: .put)
        let response = await request.validate().serializingData().response
        #expect(response.error?.responseCode == 503)
        #expect(response.attempts.last?.reason == .bodyNotReplayable)
        #expect(server.requests(toPath: "/up").map(\.bodyLength) == [1000])
    }

    @Test("a form of several parts arrives, its file included")
    func multipart() async throws {
        let file = folder.file("photo.png")
        try Data(Self.bytes(70_000)).write(to: file)
        server.on("/form") { request in
            let type = request.headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
            return [
                .respond(
                    .init(
                        200,
                        body: "\(type.hasPrefix("multipart/form-data; boundary=")) \(request.bodyLength > 70_000)"
                    )
                )
            ]
        }
        let request = session.upload(
            multipartFormData: [.text("name", "Ada"), .file("photo", file.path())],
            to: "\(server.baseURL)/form"
        )
        #expect(try await request.validate().serializingString().value == "true true")
    }

    @Test("a part that cannot be written fails the request")
    func badMultipart() async {
        let parts = [HTTPBody.Part(name: "a", body: .text("x", contentType: "not a type\r\n"))]
        let request = session.upload(multipartFormData: parts, to: "\(server.baseURL)/form")
        guard case .createRequestFailed? = await request.serializingData().response.error else {
            Issue.record("\(String(describing: request.error))")
            return
        }
        #expect(server.count(path: "/form") == 0)
    }

    @Test("a suspended upload sends no more until it is resumed")
    func suspendedUpload() async throws {
        server.on("/up") { request in [.respond(.init(200, body: "\(request.bodyLength)"))] }
        let paused = Signal()
        let request = session.upload(Data(Self.bytes(1_000_000)), to: "\(server.baseURL)/up")
        request.uploadProgress { [weak request] progress in
            guard progress.completed == 131_072 else { return }
            request?.suspend()
            paused.set()
        }
        let task = request.validate().serializingString()
        await paused.wait()
        #expect(request.isSuspended)
        #expect(request.uploadProgress.completed == 131_072)
        request.resume()
        #expect(try await task.value == "1000000")
    }

    @Test("a download makes its file, counts its progress, and leaves nothing else behind")
    func download() async throws {
        let file = folder.file("result")
        let moments = Journal<Request.TransferProgress>()
        let request = session.download("\(server.baseURL)/bytes/500000", to: file)
        let url = try await request.downloadProgress { moments.append($0) }.validate()
            .serializingDownloadedFileURL().value
        #expect(url == file)
        #expect(try Data(contentsOf: file).count == 500_000)
        #expect(moments.entries.last == Request.TransferProgress(completed: 500_000, total: 500_000))
        #expect(folder.names == ["result"])
    }

    @Test("a download by any method has the response in its file")
    func downloadByMethod() async throws {
        server.on("/report") { request in
            [.respond(.init(200, body: "\(request.method) \(request.target) \(request.bodyLength)"))]
        }
        let url = "\(server.baseURL)/report"
        let file = folder.file("report")
        func text(_ request: DownloadRequest) async throws -> String {
            let saved = try await request.validate().serializingDownloadedFileURL().value
            return String(decoding: try Data(contentsOf: saved), as: UTF8.self)
        }
        #expect(
            try await text(session.download(url, method: .post, parameters: ["a": 1], to: file)) == "POST /report 3"
        )
        #expect(try await text(session.download(url, parameters: ["a": 1], to: file)) == "GET /report?a=1 0")
        let json = session.download(url, method: .put, parameters: ["a": 1], encoding: JSONEncoding.default, to: file)
        #expect(try await text(json) == "PUT /report 7")
        let encodable = session.download(url, method: .post, parameters: ["a": "b"], encoder: .json, to: file)
        #expect(try await text(encodable) == "POST /report 9")
        let made = HTTPRequest(try url.asURL(), method: .post, headers: [:], body: .text("four"))
        #expect(try await text(session.download(made, to: file)) == "POST /report 4")
        let modified = session.download(url, to: file, requestModifier: { $0.method = .delete })
        #expect(try await text(modified) == "DELETE /report 0")
    }

    @Test("R11: a download that is cut short goes on where it stopped")
    func resumedDownload() async throws {
        let content = Self.bytes(200_000)
        server.on("/cut") { request in
            let range = request.headers.first { $0.name.lowercased() == "range" }?.value
            let headers = [("ETag", "\"v1\""), ("Accept-Ranges", "bytes")]
            guard range == "bytes=100000-" else {
                return [
                    .head(.init(200, headers: headers + [("Content-Length", "200000")])),
                    .send(Array(content[..<100_000])), .close,
                ]
            }
            let rest = headers + [("Content-Range", "bytes 100000-199999/200000")]
            return [.respond(.init(206, headers: rest, bytes: Array(content[100_000...])))]
        }
        let file = folder.file("result")
        let request = session.download("\(server.baseURL)/cut", to: file).validate()
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error == nil)
        #expect(try Data(contentsOf: file) == Data(content))
        #expect(response.attempts.map(\.reason) == [.resumed, .succeeded])
        #expect(server.count(path: "/cut") == 2)
    }

    @Test("R11: resumptions that bring new bytes use up no attempt under a wrapped policy, too")
    func wrappedResumption() async throws {
        struct Wrapper: RequestInterceptor {
            func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
                await RetryPolicy.recommended.retry(request, for: session, dueTo: error)
            }
        }
        let session = Session.overSockets(Wrapper())
        let url = "\(server.baseURL)/bytes/300000?cut=40000&times=6"
        let response = await session.download(url, to: folder.file("result")).validate()
            .serializingDownloadedFileURL().response
        #expect(response.error == nil)
        #expect(response.attempts.count == 7)
        #expect(try Data(contentsOf: folder.file("result")).count == 300_000)
    }

    @Test("a download that fails leaves the file from before, and keeps the body of the error")
    func failedDownload() async throws {
        let file = folder.file("result")
        try Data("before".utf8).write(to: file)
        server.on("/gone") { _ in [.respond(.init(404, body: "no such thing"))] }
        let request = session.download("\(server.baseURL)/gone", to: file)
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error?.responseCode == 404)
        #expect(response.data == Data("no such thing".utf8))
        #expect(try Data(contentsOf: file) == Data("before".utf8))
        #expect(folder.names == ["result"])
    }

    @Test("a download whose check fails starts over on its next attempt")
    func invalidDownload() async throws {
        server.on("/page") { request in
            let type = request.occurrence == 1 ? "text/html" : "application/zip"
            return [
                .respond(
                    .init(200, headers: [("Content-Type", type), ("ETag", "\"a\"")], body: "try \(request.occurrence)")
                )
            ]
        }
        let file = folder.file("result")
        let request = session.download("\(server.baseURL)/page", to: file, interceptor: CountingInterceptor(.retry))
        _ = try await request.validate(contentType: ["application/zip"]).serializingDownloadedFileURL().value
        #expect(try Data(contentsOf: file) == Data("try 2".utf8))
        #expect(server.requests(toPath: "/page").allSatisfy { $0.header("Range") == nil })
    }

    @Test("a cancelled download removes what had come")
    func cancelledDownload() async throws {
        server.on("/slow") { _ in
            [.head(.init(200, headers: [("Content-Length", "100000")])), .send(Self.bytes(50_000)), .hang]
        }
        let arrived = Signal()
        let request = session.download("\(server.baseURL)/slow", to: folder.file("result"))
        request.downloadProgress { _ in arrived.set() }
        let task = request.serializingDownloadedFileURL()
        await arrived.wait()
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        #expect(folder.names == [])
    }

    @Test("a folder that does not exist fails the download before anything is sent")
    func missingFolder() async {
        let request = session.download("\(server.baseURL)/bytes/10", to: folder.file("no/result"))
        #expect(await request.serializingDownloadedFileURL().response.error?.transportCode == .cannotCreateFile)
        #expect(server.log.isEmpty)
    }

    @Test("the progress of a response in memory is counted where it is watched")
    func dataProgress() async throws {
        let moments = Journal<Request.TransferProgress>()
        let response = await session.request("\(server.baseURL)/bytes/300000")
            .downloadProgress { moments.append($0) }.validate().serializingData().response
        #expect(response.value?.count == 300_000 && response.metrics?.bytesReceived == 300_000)
        #expect(moments.entries.last == Request.TransferProgress(completed: 300_000, total: 300_000))
    }

    @Test("a stream is read as it arrives")
    func stream() async throws {
        server.on("/events") { _ in
            [
                .head(.init(200, headers: [("Content-Length", "6")])), .text("one"), .sleep(.milliseconds(20)),
                .text("two"),
            ]
        }
        var bytes: [UInt8] = []
        let request = session.streamRequest("\(server.baseURL)/events").validate()
        for try await chunk in request.chunks { bytes += chunk }
        #expect(bytes == Array("onetwo".utf8))
        // The chunks end when the request does, and not before.
        #expect(request.isFinished)
    }

    @Test("a stream's head is tried again, and its validation error ends it")
    func streamRetries() async throws {
        server.on("/events") { request in
            request.occurrence < 3 ? [.respond(.init(503))] : [.respond(.init(404, body: "no"))]
        }
        let request = session.streamRequest("\(server.baseURL)/events").validate()
        await #expect(throws: RefrainError.self) {
            for try await _ in request.chunks {}
        }
        #expect(request.error?.responseCode == 404)
        #expect(server.count(path: "/events") == 3)
    }

    @Test("R10: a stream that is cut short ends with an error, after what had come")
    func cutStream() async throws {
        server.on("/events") { _ in
            [.head(.init(200, headers: [("Content-Length", "100")])), .text("half"), .close]
        }
        let (bytes, done) = (Journal<UInt8>(), Signal())
        let ends = Journal<RefrainError?>()
        session.streamRequest("\(server.baseURL)/events").responseStream { event in
            switch event {
            case .stream(let chunk): for byte in chunk { bytes.append(byte) }
            case .complete(let result):
                if case .failure(let error) = result { ends.append(error) } else { ends.append(nil) }
                done.set()
            }
        }
        await done.wait()
        #expect(ends.entries.count == 1)
        #expect(ends.entries.first??.transportCode == .networkConnectionLost)
        #expect(server.count(path: "/events") == 1)
    }

    @Test("a reader that leaves early cancels its stream")
    func leftStream() async throws {
        server.on("/endless") { _ in
            [.head(.init(200)), .text("first"), .hang]
        }
        let isFinished = Signal()
        let session = Session.overSockets(monitors: [.finished(isFinished)])
        let request = session.streamRequest("\(server.baseURL)/endless")
        for try await _ in request.chunks { break }
        await isFinished.wait()
        #expect(request.error?.isExplicitlyCancelledError == true)
    }

    @Test("R4: a one-shot upload is begun once, and its answer stands, also where a stage of the loader sends twice")
    func oneShotUploadThroughChain() async throws {
        func oneShot() -> HTTPBody {
            .oneShot(
                AsyncStream<[UInt8]> { continuation in
                    continuation.yield(Self.bytes(1000))
                    continuation.finish()
                },
                length: 1000
            )
        }
        let refused: HTTPHeaders = ["WWW-Authenticate": "Basic realm=x"]
        let moved: HTTPHeaders = ["Location": "/elsewhere"]
        let basic = BasicAuth { _ in try BasicAuth.Credentials(user: "u", password: "p") }
        let stages: [(HTTPStatus, HTTPHeaders, any HTTPMiddleware)] = [
            (503, [:], Retry(RetryPolicy.recommended, budgets: nil)), (401, refused, basic), (307, moved, Redirect()),
        ]
        for (status, headers, stage) in stages {
            let sends = Counter()
            let transport = AnyLoader { request in
                sends.increment()
                do {
                    guard try await request.body.collect().count == 1000 else { throw TestError(name: "cut") }
                } catch {
                    return .failure(HTTPError(.callerFailed, request: request, underlyingError: error))
                }
                return .success(HTTPResponse(request: request, status: status, headers: headers))
            }
            func loader(_ stage: some HTTPMiddleware) -> any HTTPLoader { stage --> transport }
            let session = Session.testing(loader(stage))
            let upload = session.upload(oneShot(), to: "http://host.test/up", method: .put)
            let response = await upload.serializingResponse().response
            if status == 307 {
                #expect(response.error?.transportCode == .requestBodyStreamExhausted)
            } else {
                #expect(response.response?.status == status)
                #expect(response.error == nil)
            }
            #expect(sends.value == 1, "\(status)")
            #expect(upload.uploadProgress.completed == 1000)
        }
    }
}
