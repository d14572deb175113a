// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

// Two providers of models behind one function: a POST, limits of requests and tokens, and an answer in a stream.

struct Provider: Sendable {
    let profile: ServerProfile
    let path: String
    /// The text that an event adds to the answer.
    let text: @Sendable (HTTPBody.ServerSentEvent) -> String

    static let openAI = Provider(profile: .openAI, path: "/v1/chat/completions") { event in
        event.data.split(separator: "\"content\":\"").last?.split(separator: "\"").first.map(String.init) ?? ""
    }
    static let anthropic = Provider(profile: .anthropic, path: "/v1/messages") { event in
        guard event.type == "content_block_delta" else { return "" }
        return event.data.split(separator: "\"text\":\"").last?.split(separator: "\"").first.map(String.init) ?? ""
    }
}

struct Client: Sendable {
    let provider: Provider
    let baseURL: String
    let loader: any HTTPLoader

    init(_ provider: Provider, at baseURL: String) {
        self.provider = provider
        self.baseURL = baseURL
        // Limits that are not given are learnt from the answers.
        loader = Pacer(.perMinute(requests: 500, cost: 200_000), profile: provider.profile) --> PlatformLoader()
    }

    func answer(to prompt: String) async throws -> String {
        var request = try HTTPRequest(baseURL + provider.path, method: .post)
        request.body = .text(
            "{\"stream\":true,\"max_tokens\":100,\"prompt\":\"\(prompt)\"}",
            contentType: "application/json"
        )
        request.cost = Double(prompt.utf8.count / 4 + 100)
        var text = ""
        for try await event in loader.events(for: request, retrying: .modelAPI(provider.profile))
        where event.data != "[DONE]" {
            text += provider.text(event)
        }
        return text
    }
}

let server = try FaultServer()
server.on("/v1/messages") { request in
    let head = FaultServer.Response(200, headers: [("Content-Type", "text/event-stream")])
    guard request.occurrence > 1 else {
        return [
            .head(head),
            .text("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n"), .close,
        ]
    }
    let delta = "event: content_block_delta\ndata: {\"delta\":{\"text\":\"Hello\"}}\n\n"
    return [.head(head), .text("event: ping\ndata: {}\n\n" + delta + "event: message_stop\ndata: {}\n\n"), .close]
}

let first = try await Client(.openAI, at: server.baseURL).answer(to: "Greet me.")
print(first)
check(first.hasPrefix("word0 word1"), "the words of the events in their order")

let second = try await Client(.anthropic, at: server.baseURL).answer(to: "Greet me.")
print(second)
check(second == "Hello", "the answer came after an error behind a 200")
check(server.count(path: "/v1/messages") == 2, "it was sent twice")
server.stop()
