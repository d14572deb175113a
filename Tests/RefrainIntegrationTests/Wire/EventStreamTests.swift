// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("On the wire: server-sent events", .timeLimit(.minutes(10)))
struct EventStreamTests {
    @Test("a stream that ends, and one that is reset, go on where they were, until a 204")
    func reconnects() async throws {
        let server = try FaultServer()
        defer { server.stop() }
        server.on("/events") { request in
            let type = ("Content-Type", "text/event-stream")
            switch request.header("Last-Event-ID") {
            case nil:
                return [.head(.init(200, headers: [type])), .text("retry: 5\nid: 1\ndata: a\n\n"), .close]
            case "1":
                let head = FaultServer.Response(200, headers: [type, ("Content-Length", "1000")])
                return [.head(head), .text("id: 2\ndata: b\n\n"), .sleep(.milliseconds(50)), .reset]
            default:
                return [.respond(.init(204))]
            }
        }
        let loader = try transport()
        let request = try HTTPRequest("\(server.baseURL)/events")
        var data: [String] = []
        for try await event in loader.events(for: request, retrying: try quick(), budgets: nil) {
            data.append(event.data)
        }
        #expect(data == ["a", "b"])
        #expect(server.log.map { $0.header("Last-Event-ID") } == [nil, "1", "2"])
    }
}
