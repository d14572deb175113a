// SPDX-License-Identifier: Apache-2.0
import RefrainTesting

/// The app's server: its first token has expired, and each endpoint fails once.
func startBackend() throws -> FaultServer {
    let server = try FaultServer()

    server.on("/login") { request in
        let asked = String(decoding: request.body, as: UTF8.self)
        guard asked == #"{"name":"ada","password":"lovelace"}"# else { return [.respond(.init(403))] }
        return [.respond(json(200, #"{"access":"expired","refresh":"r1"}"#))]
    }
    server.on("/token") { request in
        guard String(decoding: request.body, as: UTF8.self) == "refresh=r1" else { return [.respond(.init(403))] }
        return [.respond(json(200, #"{"access":"fresh","refresh":"r2"}"#))]
    }
    server.on("/photos") { request in
        guard request.header("Authorization") == "Bearer fresh" else { return [.respond(json(401, "{}"))] }
        return [.respond(json(200, #"[{"id":1,"title":"Lake"},{"id":2,"title":"Hill"}]"#))]
    }
    server.on("/photos/new") { request in
        guard request.header("Authorization") == "Bearer fresh", request.header("Idempotency-Key") != nil else {
            return [.respond(json(401, "{}"))]
        }
        guard request.occurrence > 1 else { return [.respond(.init(503, body: "busy"))] }
        let answer = "stored \(request.bodyLength) bytes"
        return [.respond(.init(201, headers: [("Content-Type", "text/plain")], body: answer))]
    }
    return server
}

private func json(_ status: Int, _ text: String) -> FaultServer.Response {
    .init(status, headers: [("Content-Type", "application/json")], body: text)
}
