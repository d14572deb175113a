// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@testable import RefrainHTTP

@Suite("The attempts of errors after the head of a response")
struct StreamAttemptsTests {
    /// A chain whose first answer is a 503, and whose second one has a body that breaks.
    private func chain(_ headers: HTTPHeaders = [:], _ chunk: String = "a\n") -> any HTTPLoader {
        let mock = MockLoader().then(.status(503)).then(
            MockLoader.Reply { request in
                let chunks = AsyncThrowingStream<[UInt8], any Error> { continuation in
                    continuation.yield(Array(chunk.utf8))
                    continuation.finish(throwing: HTTPError(.networkConnectionLost, request: request))
                }
                let body = HTTPBody.oneShot(chunks)
                return .success(HTTPResponse(request: request, status: 200, headers: headers, body: body))
            }
        )
        return retry --> mock
    }

    private var retry: Retry {
        Retry(.recommended, budgets: nil, clocks: TestClock(.autoAdvancing).retryClocks())
    }

    private func streamed() -> HTTPRequest {
        var request = sampleRequest()
        request.streamsResponse = true
        return request
    }

    private func attempts(_ body: () async throws -> Void) async -> [HTTPError.Code?]? {
        let error = await #expect(throws: HTTPError.self) { try await body() }
        #expect(error?.attempts.map(\.status) == [503, 200])
        return error?.attempts.map(\.error)
    }

    @Test("R29: the error of a streamed body has the attempts of the call, the last of which it ended")
    func streams() async throws {
        let expected: [HTTPError.Code?] = [nil, .networkConnectionLost]
        let body = await attempts { for try await _ in try await chain().response(for: streamed()).body {} }
        #expect(body == expected)
        let collected = await attempts { _ = try await chain().response(for: streamed()).body.collect() }
        #expect(collected == expected)
        let lines = await attempts { for try await _ in try await chain().response(for: streamed()).body.lines {} }
        #expect(lines == expected)
        let events = await attempts {
            for try await _ in try await chain().response(for: streamed()).body.serverSentEvents() {}
        }
        #expect(events == expected)
        let outer = await attempts {
            let loader = Redirect() --> Timeout(total: .seconds(9)) --> chain()
            for try await _ in try await loader.response(for: streamed()).body {}
        }
        #expect(outer == expected)
    }

    @Test("R29: a download and the pages of a collection that end with a status have the attempts of the call")
    func statuses() async throws {
        let loader = retry --> MockLoader().otherwise(.status(503))
        let file = try TemporaryFile([])
        let download = await #expect(throws: HTTPError.self) {
            try await loader.download(sampleRequest(), to: file.path)
        }
        #expect(download?.attempts.map(\.status) == [503, 503, 503])
        let pages = await #expect(throws: HTTPError.self) { for try await _ in loader.pages(from: sampleRequest()) {} }
        #expect(pages?.attempts.map(\.status) == [503, 503, 503])
    }

    @Test("R29: so have the errors of values, of links and of the caller's own errors made from a response")
    func values() async throws {
        let mock = MockLoader().then(.status(503)).then(.status(200, headers: ["Link": "<ftp://a>; rel=next"]))
        var pages = (retry --> mock).pages(from: sampleRequest()).makeAsyncIterator()
        let page = try #require(try await pages.next())
        let link = await #expect(throws: HTTPError.self) { try await pages.next() }
        #expect(link?.attempts.map(\.status) == [503, 200])
        let value = #expect(throws: HTTPError.self) { try page.decode(Int.self) }
        #expect(value?.attempts.count == 2)
        #expect(HTTPError(.badServerResponse, request: page.request, response: page).attempts.count == 2)
    }
}
