// SPDX-License-Identifier: Apache-2.0
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

/// What callers and servers get wrong, and what a session makes of it.
@Suite("Bad input", .timeLimit(.minutes(10)))
struct BadInputTests {
    struct User: Codable, Sendable {
        var name: String
        var tags: [String]
    }

    private func session(_ body: String, type: String = "application/json") -> Session {
        Session.testing(ScriptedLoader(.status(200, headers: ["Content-Type": type], body: body)))
    }

    @Test(
        "undecodable JSON: the error has the coding path, and keeps the body",
        arguments: [
            (#"[{"name": "Ada", "tags": []}, {"tags": []}]"#, "[1].name"),
            (#"[{"name": null, "tags": []}]"#, "[0].name"),
            (#"[{"name": "Ada", "tags": {}}]"#, "[0].tags"),
            (#"{"name": "Ada", "tags": []}"#, ""),
            (#"[{"name": "Ada""#, ""),
        ]
    )
    func undecodable(body: String, codingPath: String) async {
        let session = session(body)
        let error = await session.request(HTTPRequest.sample).serializingDecodable([User].self).response.error
        guard case .responseSerializationFailed(.decodingFailed(let cause, let path, let bytes), _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(path == codingPath)
        #expect(bytes == Array(body.utf8))
        #expect(cause is DecodingError)
        if !codingPath.isEmpty { #expect(error.map { "\($0)" }?.contains(codingPath) == true) }
    }

    @Test("a lying content type: HTML that says that it is JSON is an error with the body; a check refuses the honest")
    func lyingContentType() async {
        let page = "<html>Log in to the café's network</html>"
        let lying = session(page)
        let lie = await lying.request(HTTPRequest.sample).serializingDecodable(User.self).response.error
        guard case .responseSerializationFailed(.decodingFailed(_, "", let bytes), _)? = lie else {
            Issue.record("\(String(describing: lie))")
            return
        }
        #expect(bytes == Array(page.utf8))
        let honest = session(page, type: "text/html")
        let error = await honest.request(HTTPRequest.sample).validate(contentType: ["application/json"])
            .serializingDecodable(User.self).response.error
        guard case .responseValidationFailed(.unacceptableContentType(_, "text/html"), _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(
        "a content type that is none is no match, and no trap",
        arguments: ["", "/", "json", "a/b/c", ";;", "\u{fc}/x"]
    )
    func malformedContentType(type: String) async {
        let session = session("{}", type: type)
        let error = await session.request(HTTPRequest.sample).validate(contentType: ["application/json"])
            .serializingData().response.error
        guard case .responseValidationFailed? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a session that is released ends requests of every kind, in mid-exchange and in mid-wait")
    func released() async throws {
        let folder = try TemporaryFolder()
        let loader = ScriptedLoader(
            .compute { request in
                // One answers, so that it waits for its next attempt; the others hang.
                if request.url.path() == "/waits" { return .success(HTTPResponse(request: request, status: 503)) }
                await untilCancelled()
                return .failure(HTTPError(.cancelled, request: request))
            }
        )
        let waits = Retrier { _, _, _ in .retryWithDelay(.seconds(10_000)) }
        var session: Session? = Session.testing(loader, interceptor: Interceptor(retriers: [waits]), clock: nil)
        let data = session?.request(HTTPRequest.sample)
        let waiting = session?.request(HTTPRequest("/waits"))
        let upload = session?.upload(Data([1]), to: "http://host.test/upload")
        let download = session?.download("http://host.test/file", to: folder.file("x"))
        let tasks = [data?.serializingData(), waiting?.serializingData(), upload?.serializingData()]
        let file = download?.serializingDownloadedFileURL()
        await loader.requests(atLeast: 4)
        session = nil
        for task in tasks {
            guard case .sessionDeinitialized? = await task?.response.error else {
                Issue.record("a request outlived its session")
                continue
            }
        }
        guard case .sessionDeinitialized? = await file?.response.error else {
            Issue.record("a download outlived its session")
            return
        }
        #expect(loader.requests.count == 4)
        #expect(folder.names.filter { $0 == "x" }.isEmpty)
    }

    @Test("R31: counts that do not fit the bounds of a histogram are refused where they are decoded")
    func histogramCounts() throws {
        func snapshot(_ counts: String) throws -> MetricsMonitor.Snapshot {
            let json = """
                {"requestsCreated": 0, "requestsSucceeded": 0, "requestsFailed": 0, "requestsCancelled": 0,
                "attempts": [], "retries": [], "givenUp": [],
                "durations": {"h": {"counts": [\(counts)], "count": 1, "sum": 0.5}}}
                """
            return try JSONDecoder().decode(MetricsMonitor.Snapshot.self, from: Data(json.utf8))
        }
        for counts in ["", "1", "1,2,3,4,5,6,7,8,9,10,11", "1,2,3,4,5,6,7,8,9,10,11,12,13"] {
            #expect(throws: DecodingError.self) { try snapshot(counts) }
        }
        let whole = try snapshot("1,0,0,0,0,0,0,0,0,0,0,0")
        #expect(whole.prometheusText.contains(#"le="10.0"} 1"#))
        let again = try JSONDecoder().decode(MetricsMonitor.Snapshot.self, from: JSONEncoder().encode(whole))
        #expect(again == whole)
    }

    @Test("R31: numbers of a decoded snapshot saturate")
    func histogramNumbers() throws {
        let most = Int.max
        let json = """
            {"requestsCreated": 0, "requestsSucceeded": \(most), "requestsFailed": \(most),
            "requestsCancelled": 1, "attempts": [], "retries": [], "givenUp": [],
            "durations": {"h": {"counts": [\(most),1,1,1,1,1,1,1,1,1,1,1], "count": \(most), "sum": 0.5}}}
            """
        let snapshot = try JSONDecoder().decode(MetricsMonitor.Snapshot.self, from: Data(json.utf8))
        #expect(snapshot.prometheusText.contains(#"le="10.0"} "# + "\(most)\n"))
        #expect(snapshot.requestsActive == .min)
    }

    @Test("parts that make no URL are named without user and password")
    func partsOfAURL() async {
        var parts = URLComponents()
        parts.scheme = "http"
        parts.host = "host.test"
        parts.user = "us3r"
        parts.password = "s3cret"
        parts.path = "no-slash"
        parts.query = "a=1"
        let session = session("")
        let error = await session.request(parts).serializingData().response.error
        let text = error.map { "\($0) \(String(reflecting: $0))" } ?? ""
        #expect(text.contains("no-slash"))
        #expect(!text.contains("s3cret"))
        #expect(!text.contains("us3r"))
    }
}

/// The same over sockets, where what is sent can be counted.
@Suite("Bad input, on the wire", .timeLimit(.minutes(10)))
struct BadInputOnTheWireTests {
    let server: FaultServer
    let folder: TemporaryFolder
    let session = Session.testing(CurlLoader(), interceptor: RetryPolicy.recommended)

    init() throws {
        server = try FaultServer()
        folder = try TemporaryFolder()
    }

    @Test("names of parts that would break out of their heads arrive as one field each")
    func multipartNames() async throws {
        let names = ["a\"b", "a\r\nX-Injected: 1", "--boundary", "ü", ""]
        let parts =
            names.map { HTTPBody.Part.text($0, "v") }
            + [.bytes("f", [1], filename: "../../\"etc\r\n")]
        server.on("/form") { request in
            let text = String(decoding: request.body, as: UTF8.self)
            let heads = text.split(separator: "Content-Disposition: form-data; name=", omittingEmptySubsequences: false)
            let wasInjected = text.contains("\nX-Injected")
            return [.respond(.init(200, body: "\(heads.count - 1)\(wasInjected ? " injected" : "")"))]
        }
        let request = session.upload(multipartFormData: parts, to: "\(server.baseURL)/form")
        #expect(try await request.serializingString().value == "6")
    }

    @Test("R31: a limit below zero fails what is larger than nothing, also where progress is watched")
    func negativeLimit() async {
        let session = Session.testing(ScriptedLoader(.status(200, body: "hello")))
        var plain = HTTPRequest.sample
        plain.maximumBodySize = .min
        let request = session.request(plain).downloadProgress { _ in }
        #expect(await request.serializingData().response.error?.transportCode == .dataLengthExceedsMaximum)
    }

    @Test("a part that cannot be written fails the upload before anything is sent")
    func badPart() async {
        let parts: [[HTTPBody.Part]] = [
            [.bytes("n", [1], contentType: "a\r\nX: y")], [.file("f", folder.file("missing").path())],
        ]
        for parts in parts {
            let request = session.upload(multipartFormData: parts, to: "\(server.baseURL)/form")
            guard case .createRequestFailed? = await request.serializingData().response.error else {
                Issue.record("not refused")
                continue
            }
        }
        #expect(server.log.isEmpty)
    }

    @Test("a URL that is not of a file is not taken for the local file of its path")
    func remoteFile() async throws {
        let file = folder.file("secret")
        try Data("secret".utf8).write(to: file)
        let remote = try #require(URL(string: "https://a.example\(file.path())"))
        let upload = session.upload(remote, to: "\(server.baseURL)/form")
        #expect(await upload.serializingData().response.error?.transportCode == .fileDoesNotExist)
        let download = session.download("\(server.baseURL)/form", to: remote)
        #expect(await download.serializingData().response.error?.transportCode == .cannotCreateFile)
        #expect(server.log.isEmpty)
        #expect(try Data(contentsOf: file) == Data("secret".utf8))
    }

    @Test("R4: a form's file that vanishes between two attempts ends the upload; one that grows is sent as announced")
    func filesOfForms() async throws {
        let (gone, grown) = (folder.file("gone"), folder.file("grown"))
        for file in [gone, grown] { try Data(repeating: 7, count: 1000).write(to: file) }
        server.on("/gone") { _ in
            try? FileManager.default.removeItem(at: gone)
            return [.respond(.init(503))]
        }
        server.on("/grown") { request in
            try? Data(repeating: 7, count: 2000).write(to: grown)
            return [.respond(.init(request.occurrence == 1 ? 503 : 200))]
        }
        let parts: (URL) -> [HTTPBody.Part] = { [.file("f", $0.path())] }
        let lost = session.upload(multipartFormData: parts(gone), to: "\(server.baseURL)/gone", method: .put)
        #expect(await lost.serializingData().response.error?.transportCode == .fileDoesNotExist)
        #expect(server.requests(toPath: "/gone").filter(\.complete).count == 1)
        let sent = session.upload(multipartFormData: parts(grown), to: "\(server.baseURL)/grown", method: .put)
        _ = await sent.serializingData().response
        let lengths = server.requests(toPath: "/grown").map(\.bodyLength)
        #expect(lengths.count == 2)
        #expect(Set(lengths).count == 1)
    }
}
