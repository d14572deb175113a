// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainCore
import RefrainHTTP
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("On the wire: where downloads go, and what is read from them", .timeLimit(.minutes(10)))
struct DownloadWireTests {
    private let server: FaultServer
    private let folder: TemporaryFolder
    private let session = Session.overSockets(RetryPolicy.recommended)

    private struct User: Decodable, Sendable { let name: String }

    init() throws {
        server = try FaultServer()
        folder = try TemporaryFolder()
        server.on("/user") { request in
            let isFirst = request.occurrence == 1
            return [
                .respond(
                    .init(
                        isFirst ? 503 : 200,
                        headers: [("Content-Type", "application/json")],
                        body: isFirst ? "" : #"{"name":"ada"}"#
                    )
                )
            ]
        }
    }

    private var address: String { server.baseURL + "/user" }

    @Test("a destination is asked once, with the response, and its options are followed")
    func destination() async throws {
        let target = folder.url.appending(path: "new/folder/user.json")
        let asked = Journal<Int>()
        let destination: DownloadRequest.Destination = { temporary, response in
            #expect(FileManager.default.fileExists(atPath: temporary.path()))
            asked.append(response.statusCode)
            return (target, [.createIntermediateDirectories, .removePreviousFile])
        }
        for _ in 0..<2 {
            let request = session.download(address, to: destination).validate()
            #expect(try await request.serializingDownloadedFileURL().value == target)
            #expect(request.fileURL == target)
        }
        #expect(asked.entries == [200, 200])
        #expect(try String(contentsOf: target, encoding: .utf8) == #"{"name":"ada"}"#)
        #expect(server.count(path: "/user") == 3)
    }

    @Test("without the options, a file that is there and a folder that is not fail the download, and stay as they are")
    func refused() async throws {
        let present = folder.file("present")
        try Data("old".utf8).write(to: present)
        for target in [present, folder.url.appending(path: "none/file")] {
            let request = session.download(address, to: { _, _ in (target, []) })
            let response = await request.serializingDownloadedFileURL().response
            #expect(response.error?.transportCode == .cannotMoveFile)
            #expect(response.fileURL == nil)
            #expect(!FileManager.default.fileExists(atPath: request.fileURL.path()))
        }
        #expect(try String(contentsOf: present, encoding: .utf8) == "old")
        #expect(folder.names == ["present"])
    }

    @Test("a file that is to be replaced stays where the new one cannot be moved")
    func keptWhenNotReplaced() async throws {
        let target = folder.file("present")
        try Data("old".utf8).write(to: target)
        let request = session.download(
            address,
            to: { temporary, _ in
                try? FileManager.default.removeItem(at: temporary)
                return (target, [.removePreviousFile])
            }
        )
        #expect(await request.serializingDownloadedFileURL().response.error?.transportCode == .cannotMoveFile)
        #expect(try String(contentsOf: target, encoding: .utf8) == "old")
        #expect(folder.names == ["present"])
    }

    @Test("what is replaced may be a folder, or a link, whose target stays")
    func replaced() async throws {
        let target = folder.file("present")
        let other = folder.file("other")
        try Data("old".utf8).write(to: other)
        let destination: DownloadRequest.Destination = { _, _ in (target, [.removePreviousFile]) }
        try FileManager.default.createSymbolicLink(at: target, withDestinationURL: other)
        _ = try await session.download(address, to: destination).serializingDownloadedFileURL().value
        #expect(try String(contentsOf: other, encoding: .utf8) == "old")
        #expect(try String(contentsOf: target, encoding: .utf8) == #"{"name":"ada"}"#)
        try FileManager.default.removeItem(at: target)
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
        _ = try await session.download(address, to: destination).serializingDownloadedFileURL().value
        #expect(try String(contentsOf: target, encoding: .utf8) == #"{"name":"ada"}"#)
        #expect(folder.names.sorted() == ["other", "present"])
    }

    @Test("without a destination the file is a temporary one, and a failed download leaves none")
    func temporary() async throws {
        let request = session.download(address)
        let file = try await request.serializingDownloadedFileURL().value
        #expect(try Data(contentsOf: file) == Data(#"{"name":"ada"}"#.utf8))
        try FileManager.default.removeItem(at: file)
        let failing = session.download(server.baseURL + "/status/404")
        #expect(await failing.serializingDownloadedFileURL().response.error?.responseCode == 404)
        #expect(!FileManager.default.fileExists(atPath: failing.fileURL.path()))
    }

    @Test("what a download brought is read as data, text and a value, awaited or by completions in their order")
    func serializers() async throws {
        let request = session.download(address, to: folder.file("user"))
        #expect(try await request.serializingDecodable(User.self).value.name == "ada")
        #expect(try await request.serializingString().value == #"{"name":"ada"}"#)
        #expect(try await request.serializingData().value.count == 14)
        let journal = Journal<String>()
        let queue = DispatchQueue(label: "downloads")
        await withCheckedContinuation { done in
            session.download(address, to: folder.file("user"))
                .response(queue: queue) { journal.append("url \($0.value??.lastPathComponent ?? "")") }
                .responseURL(queue: queue) { journal.append("url \($0.fileURL?.lastPathComponent ?? "")") }
                .responseData(queue: queue) { journal.append("data \($0.value?.count ?? 0)") }
                .responseString(queue: queue) { journal.append("text \($0.value?.count ?? 0)") }
                .responseDecodable(of: User.self, queue: queue) {
                    journal.append("value \($0.value?.name ?? "")")
                    done.resume()
                }
        }
        #expect(journal.entries == ["url user", "url user", "data 14", "text 14", "value ada"])
        #expect(server.count(path: "/user") == 3)
        let wrong = await session.download(address, to: folder.file("user")).serializingDecodable([Int].self).response
        #expect(wrong.error?.isResponseSerializationError == true)
        #expect(wrong.fileURL != nil)
    }

    @Test("the suggested destination is one component of the URL in the chosen folder")
    func suggested() {
        let destination = DownloadRequest.suggestedDownloadDestination(options: [.removePreviousFile])
        let names = ["/a/b.png", "/a/%2e%2e", "/a/x%2Fy", "/"].map { path in
            let request = HTTPRequest(path)
            let (url, options) = destination(folder.file("t"), HTTPResponse(request: request, status: 200))
            #expect(options == [.removePreviousFile])
            return url.pathComponents.suffix(2).last ?? ""
        }
        #expect(names.first == "b.png")
        #expect(!names.contains("..") && names.last == "download")
    }

    @Test("R11: a cancelled download goes on in another session from its resume data, and fetches the rest alone")
    func resume() async throws {
        let file = folder.file("large")
        let whole = try await session.request(server.baseURL + "/bytes/200000").serializingData().value
        server.on("/large") { request in
            let fields = [("ETag", "\"v1\""), ("Accept-Ranges", "bytes")]
            if request.headers.contains(where: { $0.name.lowercased() == "range" }) {
                let start = 100_000
                return [
                    .respond(
                        .init(
                            206,
                            headers: fields + [("Content-Range", "bytes \(start)-199999/200000")],
                            bytes: Array(whole[start...])
                        )
                    )
                ]
            }
            let length = [("Content-Length", "200000")]
            return [.head(.init(200, headers: fields + length)), .send(Array(whole[..<100_000])), .hang]
        }
        let arrived = Signal()
        let first = session.download(
            server.baseURL.replacing("http://", with: "http://user:secret@") + "/large",
            headers: ["Authorization": "Bearer secret", "X-Kind": "a"],
            to: file
        )
        first.downloadProgress { if $0.completed >= 100_000 { arrived.set() } }
        async let ending = first.serializingDownloadedFileURL().response
        await arrived.wait()
        await first.received(atLeast: 100_000)
        let produced = await withCheckedContinuation { done in first.cancel { done.resume(returning: $0) } }
        let data = try #require(produced)
        #expect(await ending.resumeData == data)
        #expect(folder.names.count == 1 && !folder.names.contains("large"))
        #expect(!String(decoding: data, as: UTF8.self).contains("secret"))

        let later = Session.overSockets(RetryPolicy.recommended)
        let second = later.download(resumingWith: data, to: file)
        let saved = try await second.validate().serializingData().value
        #expect(saved == whole)
        #expect(folder.names == ["large"])
        let requests = server.requests(toPath: "/large")
        #expect(requests.map { $0.values("Range") } == [[], ["bytes=100000-"]])
        #expect(requests.map { $0.values("If-Range") } == [[], ["\"v1\""]])
        #expect(requests.map { $0.values("X-Kind") } == [["a"], ["a"]])
    }

    @Test("R11: a download that is cancelled by its progress handler, while bytes arrive, can be continued")
    func resumeFromHandler() async throws {
        let content = [UInt8](repeating: 7, count: 4_000_000)
        server.on("/flowing") { request in
            let fields = [("ETag", "\"v1\""), ("Accept-Ranges", "bytes")]
            if let range = request.headers.first(where: { $0.name.lowercased() == "range" })?.value,
                let start = Int(range.dropFirst("bytes=".count).dropLast())
            {
                let rest = fields + [("Content-Range", "bytes \(start)-\(content.count - 1)/\(content.count)")]
                return [.respond(.init(206, headers: rest, bytes: Array(content[start...])))]
            }
            return [.respond(.init(200, headers: fields, bytes: content))]
        }
        let first = session.download(server.baseURL + "/flowing", to: folder.file("flowing"))
        first.downloadProgress { [weak first] progress in
            if progress.completed > 0 { first?.cancel(producingResumeData: true) }
        }
        let response = await first.serializingDownloadedFileURL().response
        #expect(response.error?.isExplicitlyCancelledError == true)
        let data = try #require(response.resumeData)
        let saved = await session.download(resumingWith: data).serializingData().response
        #expect(saved.value.map { Array($0) } == content)
        if let file = saved.fileURL { try FileManager.default.removeItem(at: file) }
        let ranges = server.requests(toPath: "/flowing").map { $0.header("Range") }
        #expect(ranges.count == 2 && ranges[0] == nil && ranges[1] != nil, "the second one fetches the rest alone")
    }

    @Test("the resume data of a cancellation comes before the completions of the response")
    func orderOfCancellation() async {
        let journal = Journal<String>()
        let download = session.download(server.baseURL + "/hang", to: folder.file("hung"))
        download.response { _ in journal.append("response") }
        download.cancel { _ in journal.append("data") }
        await withCheckedContinuation { done in download.response { _ in done.resume() } }
        #expect(journal.entries == ["data", "response"])
    }

    @Test("resume data of a download whose bytes are gone starts over, and other data fails the request")
    func resumeWithout() async throws {
        let file = folder.file("large")
        server.on("/slow") { _ in
            let fields = [("ETag", "\"v1\""), ("Content-Length", "20")]
            return [.head(.init(200, headers: fields)), .send(Array("0123456789".utf8)), .hang]
        }
        let first = session.download(server.baseURL + "/slow", to: file)
        async let ending = first.serializingDownloadedFileURL().response
        await first.received(atLeast: 10)
        first.cancel(producingResumeData: true)
        let data = try #require(await ending.resumeData)
        for name in folder.names { try FileManager.default.removeItem(at: folder.file(name)) }
        server.on("/slow") { _ in [.respond(.init(200, body: "complete"))] }
        let second = session.download(resumingWith: data, to: file)
        #expect(try await second.serializingString().value == "complete")
        #expect(server.requests(toPath: "/slow").map { $0.values("Range") } == [[], []])
        let other = await session.download(resumingWith: Data("x".utf8), to: file).serializingString().response
        guard case .createRequestFailed? = other.error else {
            Issue.record("\(other)")
            return
        }
    }

    @Test(
        "an accepted status of 400 or more is a file, whole, and is not retried",
        arguments: [("names it", 404), ("names it", 503), ("closure", 404), ("closure", 503)]
    )
    func acceptedError(acceptedBy: String, status: Int) async throws {
        let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        server.on("/error") { _ in [.respond(.init(status, bytes: content))] }
        let file = folder.file("error")
        func check<Kind: Request>(_ request: Kind) -> Kind {
            acceptedBy == "closure" ? request.validate { _, _ in .success(()) } : request.validate(statusCode: [status])
        }
        let request = check(session.download(server.baseURL + "/error", to: file))
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error == nil && response.response?.statusCode == status)
        #expect(try Array(Data(contentsOf: file)) == content)
        #expect(server.count(path: "/error") == 1)
        // The same for content in memory.
        let data = await check(session.request(server.baseURL + "/error")).serializingData().response
        #expect(data.error == nil && data.value.map { Array($0) } == content)
        #expect(server.count(path: "/error") == 2)
    }

    @Test("a status that a check refuses is no file, whatever another check lets pass", arguments: [404, 503])
    func refusedError(status: Int) async throws {
        server.on("/error") { _ in [.respond(.init(status, body: "no"))] }
        let quick = Session.overSockets(RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0))
        let request = quick.download(server.baseURL + "/error", to: folder.file("error"))
            .validate(statusCode: 200..<300).validate { _, _ in .success(()) }
        let response = await request.serializingDownloadedFileURL().response
        #expect(response.error?.responseCode == status)
        #expect(folder.names == [])
        #expect(server.count(path: "/error") == (status == 503 ? 2 : 1))
    }

    @Test("R11: a download that the server cut and that is not retried leaves its response, and data to go on from")
    func cut() async throws {
        let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        server.on("/cut") { request in
            let fields = [("ETag", "\"v1\"")]
            guard request.occurrence > 1 else {
                let head = FaultServer.Response(200, headers: fields + [("Content-Length", "200000")])
                return [.head(head), .send(Array(content[..<100_000])), .sleep(.milliseconds(50)), .reset]
            }
            let range = [("Content-Range", "bytes 100000-199999/200000")]
            return [.respond(.init(206, headers: fields + range, bytes: Array(content[100_000...])))]
        }
        let plain = Session.overSockets(nil)
        let file = folder.file("cut")
        let response = await plain.download(server.baseURL + "/cut", to: file).serializingDownloadedFileURL().response
        #expect(response.error != nil && response.response?.statusCode == 200)
        #expect(response.response?.headers["ETag"] == "\"v1\"")
        let data = try #require(response.resumeData)
        let saved = await plain.download(resumingWith: data, to: file).serializingData().response
        #expect(saved.value.map { Array($0) } == content)
        #expect(server.requests(toPath: "/cut").map { $0.header("Range") } == [nil, "bytes=100000-"])
        #expect(folder.names == ["cut"])
    }

    @Test("a download that was cut leaves nothing where nobody asks for its data, or they would be of no use")
    func cutAndForgotten() async throws {
        let plain = Session.overSockets(nil)
        for fields in [[], [("ETag", "\"v1\"")]] as [[(String, String)]] {
            server.on("/cut") { _ in
                let head = FaultServer.Response(200, headers: fields + [("Content-Length", "20")])
                return [.head(head), .text("0123456789"), .sleep(.milliseconds(50)), .reset]
            }
            do {
                let request = plain.download(server.baseURL + "/cut", to: folder.file("x"))
                let response = await request.serializingDownloadedFileURL().response
                #expect(response.error != nil && response.response?.statusCode == 200)
                #expect(fields.isEmpty || folder.names.count == 1)
            }
            await folder.empties()
        }
    }

    @Test("R11: what an attempt has written that did not pass validation is discarded, and no rest of it is asked for")
    func invalidAttempt() async throws {
        server.on("/state") { request in
            let isStale = request.occurrence == 1
            let fields = [("ETag", "\"v1\""), ("X-State", isStale ? "stale" : "fresh")]
            // Too long to have arrived as a whole with its head.
            let body = isStale ? String(repeating: "stale ", count: 500_000) : "fresh"
            return [.respond(.init(200, headers: fields, body: body))]
        }
        let retrier = Retrier { _, _, _ in .retry }
        let file = folder.file("state")
        struct Stale: Error {}
        let retrying = Session.overSockets(retrier)
        let request = retrying.download(server.baseURL + "/state", to: file)
            .validate { _, response in response.headers["X-State"] == "fresh" ? .success(()) : .failure(Stale()) }
        #expect(try await request.serializingString().value == "fresh")
        #expect(try String(contentsOf: file, encoding: .utf8) == "fresh")
        #expect(server.requests(toPath: "/state").map { $0.header("Range") } == [nil, nil])
        #expect(folder.names == ["state"])
    }

    @Test("a download that is cancelled plainly leaves nothing")
    func plainCancel() async throws {
        let first = session.download(server.baseURL + "/hang", to: folder.file("x"))
        async let ending = first.serializingDownloadedFileURL().response
        await server.requests(atLeast: 1, toPath: "/hang")
        first.cancel()
        #expect(await ending.resumeData == nil)
        #expect(folder.names == [])
    }
}
