// SPDX-License-Identifier: Apache-2.0
internal import RefrainHTTP

extension Route {
    static let plain: [Route] = [
        Route("/", example: "/", "lists these paths", kind: .plain) { _ in
            [
                .respond(
                    Response(200, headers: [("Content-Type", "text/plain; charset=utf-8")], body: FaultServer.listing)
                )
            ]
        },
        Route("/ok", example: "/ok", "200 with a small body", kind: .plain) { _ in [.respond(.ok)] },
        Route(
            "/echo",
            example: "/echo",
            "what arrived, as JSON: method, path, headers, body, body_sha256",
            kind: .plain
        ) {
            call in
            let request = call.request
            let headers = request.headers.map { "[\(JSONText.quoted($0.name)),\(JSONText.quoted($0.value))]" }
            let digest = SHA256.hex(of: request.body)
            return [
                .respond(
                    .json(
                        "{\"method\":\(JSONText.quoted(request.method)),\"path\":\(JSONText.quoted(request.target)),"
                            + "\"headers\":[\(headers.joined(separator: ","))],"
                            + "\"connection\":\(request.connection),\"number\":\(request.numberOnConnection),"
                            + "\"body\":\(JSONText.quoted(String(decoding: request.body, as: UTF8.self))),"
                            + "\"body_length\":\(request.bodyLength),\"body_sha256\":\(JSONText.quoted(digest))}\n"
                    )
                )
            ]
        },
    ]

    static let control: [Route] = [
        Route("/log", example: "/log", "what arrived so far, as a JSON array", options: ["path"], kind: .control) {
            call in
            let wanted = call.text("path")
            let entries = call.server.log.entries.filter { entry in wanted.map(entry.isFor) ?? true }
            return [.respond(.json("[" + entries.map(\.json).joined(separator: ",\n") + "]\n"))]
        },
        Route("/reset-state", example: "/reset-state", "forgets the log and all counters", kind: .control) { call in
            call.server.reset()
            return [.respond(.ok)]
        },
        Route("/ports", example: "/ports", "the ports of servers that misbehave on connect, as JSON", kind: .control) {
            call in
            let ports = FaultServer.Mode.allCases.compactMap { mode in
                call.server.port(of: mode).map { "\(JSONText.quoted(mode.rawValue)):\($0)" }
            }
            return [.respond(.json("{" + ports.joined(separator: ",") + "}\n"))]
        },
    ]
}

extension FaultServer.Response {
    static func json(_ text: String) -> Self {
        Self(200, headers: [("Content-Type", "application/json")], body: text)
    }

    static func text(_ status: Int, _ text: String, headers: [(String, String)] = []) -> Self {
        Self(status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers, body: text)
    }
}
