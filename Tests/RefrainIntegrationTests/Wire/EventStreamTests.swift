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

    @Test("R36: the body of a refusal, which arrives after its head, decides on a stream and on its place")
    func refusals() async throws {
        let server = try FaultServer()
        defer { server.stop() }
        let quota = [#"{"error":{"code":"insuffic"#, #"ient_quota"}}"#]
        let info = #""@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"900s""#
        for (path, parts) in [("/quota", quota), ("/later", [#"{"error":{"details":[{"#, info + "}]}}"])] {
            server.on(path) { _ in
                let length = "\(parts.joined().utf8.count)"
                let head = FaultServer.Response(429, headers: [("Content-Length", length)])
                return [.head(head), .text(parts[0]), .sleep(.milliseconds(50)), .text(parts[1])]
            }
        }
        let pacer = Pacer(profile: .gemini)
        let loader = pacer --> (try transport())
        for (path, profile, code) in [
            ("/quota", ServerProfile.openAI, HTTPError.Code.badServerResponse), ("/later", .gemini, .retryAfterTooLong),
        ] {
            let request = try HTTPRequest("\(server.baseURL)\(path)", method: .post)
            let error = await #expect(throws: HTTPError.self) {
                for try await _ in loader.events(for: request, retrying: .modelAPI(profile), budgets: nil) {}
            }
            #expect(error?.code == code && error?.attempts.count == 1)
            #expect(server.log.count { $0.path == path } == 1)
        }
        // What comes next to the place is not sent.
        let next = await #expect(throws: HTTPError.self) {
            try await loader.response(for: HTTPRequest("\(server.baseURL)/later"))
        }
        #expect(next?.code == .retryAfterTooLong)
        #expect(server.log.count { $0.path == "/later" } == 1)
    }
}
