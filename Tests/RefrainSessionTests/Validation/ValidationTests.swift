// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Validation", .timeLimit(.minutes(10)))
struct ValidationTests {
    private func error(
        _ status: Int = 200,
        type: String? = nil,
        accept: String? = nil,
        body: String = "x",
        _ validate: (DataRequest) -> DataRequest
    ) async -> RefrainError? {
        let headers: HTTPHeaders = type.map { ["Content-Type": $0] } ?? [:]
        let session = Session.testing(ScriptedLoader(.status(status, headers: headers, body: body)))
        var request = HTTPRequest.sample
        request.headers["Accept"] = accept
        return await validate(session.request(request)).serializingResponse().response.error
    }

    @Test(
        "A: validation: validate() accepts 2xx only",
        arguments: [(199, false), (200, true), (299, true), (304, false), (404, false)]
    )
    func statuses(status: Int, passes: Bool) async {
        let error = await error(status) { $0.validate() }
        #expect((error == nil) == passes)
        #expect(error?.responseCode == (passes ? nil : status))
    }

    @Test("A: validation: named statuses are accepted, and no others")
    func namedStatuses() async {
        #expect(await error(404) { $0.validate(statusCode: [404]) } == nil)
        #expect(await error(200) { $0.validate(statusCode: [404]) }?.responseCode == 200)
    }

    @Test(
        "A: validation: a content type is held against types and ranges",
        arguments: [
            ("application/json; charset=utf-8", "application/json", true), ("image/png", "image/*", true),
            ("text/html", "application/json", false), ("text/html", "*/*", true), ("nonsense", "text/plain", false),
        ]
    )
    func types(type: String, accepted: String, passes: Bool) async {
        let error = await error(type: type) { $0.validate(contentType: [accepted]) }
        #expect((error == nil) == passes)
    }

    @Test("A: validation: content without a type fails, unless every type is accepted")
    func missingType() async {
        let error = await error { $0.validate(contentType: ["application/json"]) }
        guard case .responseValidationFailed(.missingContentType(let accepted), _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(accepted == ["application/json"])
        #expect(await self.error { $0.validate(contentType: ["*/*"]) } == nil)
    }

    @Test("A: validation: no content has no type to check")
    func emptyBody() async {
        #expect(await error(204, body: "") { $0.validate(contentType: ["application/json"]) } == nil)
        #expect(await error(204, accept: "application/json", body: "") { $0.validate() } == nil)
    }

    @Test(
        "A: validation: a stream that ends with its head has no type to check",
        arguments: [(HTTPMethod.get, 204, true), (.head, 200, true), (.get, 200, false)]
    )
    func streamWithoutContent(method: HTTPMethod, status: Int, passes: Bool) async {
        let session = Session.testing(ScriptedLoader(.status(status)))
        var request = HTTPRequest.sample
        (request.method, request.headers["Accept"]) = (method, "text/event-stream")
        let stream = session.streamRequest(request).validate()
        do {
            for try await _ in stream.chunks {}
        } catch {}
        #expect((stream.error == nil) == passes, "\(String(describing: stream.error))")
    }

    @Test("A: validation: the type of an error that a download keeps is checked")
    func keptError() async throws {
        let headers: HTTPHeaders = ["Content-Type": "text/html"]
        let session = Session.testing(ScriptedLoader(.status(404, headers: headers, body: "<p>")))
        let path = FileManager.default.temporaryDirectory.appending(path: "refrain-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: path) }
        let download = session.download(HTTPRequest.sample, to: path)
            .validate(statusCode: [404]).validate(contentType: ["application/json"])
        let error = await download.serializingDownloadedFileURL().response.error
        let isRefused = if case .responseValidationFailed(.unacceptableContentType, _)? = error { true } else { false }
        #expect(isRefused, "\(String(describing: error))")
        #expect(!FileManager.default.fileExists(atPath: path.path()))
    }

    @Test("A: validation: validate() holds the type against the request's Accept")
    func accept() async {
        #expect(
            await error(type: "application/json", accept: "application/json, text/*;q=0.5") { $0.validate() } == nil
        )
        let error = await error(type: "image/png", accept: "application/json, text/*;q=0.5") { $0.validate() }
        guard case .responseValidationFailed(.unacceptableContentType(_, "image/png"), _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A: validation: the first failure wins")
    func firstFailure() async {
        let error = await error(404, type: "text/html") {
            $0.validate(statusCode: [200]).validate { _, _, _ in .failure(TestError()) }
        }
        #expect(error?.responseCode == 404)
    }

    @Test("A: validation: a check of the caller's sees request, response and body, and its error is kept")
    func custom() async {
        let error = await error(body: "bad") {
            $0.validate { request, response, data in
                request?.url.path() == "/sample" && response.status == 200 && data?.count == 3
                    ? .failure(TestError(name: "bad")) : .success(())
            }
        }
        guard case .responseValidationFailed(.customValidationFailed(let cause), _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause as? TestError == TestError(name: "bad"))
    }

    @Test("A: validation: a failed check reaches the retriers, and runs anew on each attempt")
    func retried() async throws {
        let loader = ScriptedLoader(.status(200, body: "pending"), .status(200, body: "done"))
        let session = Session.testing(loader, interceptor: CountingInterceptor(.retry))
        let value = try await session.request(HTTPRequest.sample)
            .validate { _, _, data in data?.count == 4 ? .success(()) : .failure(TestError()) }
            .serializingString().value
        #expect(value == "done")
    }

    @Test("A: validation: the response stays on the request though its validation failed")
    func responseStays() async {
        let session = Session.testing(ScriptedLoader(.status(422, body: "why")))
        let request = session.request(HTTPRequest.sample).validate()
        let response = await request.serializingData().response
        #expect(response.error?.responseCode == 422)
        #expect(response.data.map { Array($0) } == Array("why".utf8))
        #expect(request.response?.status == 422)
        #expect(request.error?.responseCode == 422)
    }
}
