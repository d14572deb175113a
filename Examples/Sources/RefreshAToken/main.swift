// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

// Ten concurrent requests with an expired token. One refresh serves all of them, and each is sent once more with the
// new token. (`Port` shows the same with Alamofire's types.)

let server = try FaultServer()
server.on("/token") { request in
    guard String(decoding: request.body, as: UTF8.self) == "refresh_token=r1" else { return [.respond(.init(403))] }
    return [.sleep(.milliseconds(50)), .respond(.init(200, body: "fresh"))]
}
server.on("/messages") { request in
    guard request.header("Authorization") == "Bearer fresh" else {
        return [.respond(.init(401, headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")]))]
    }
    return [.respond(.init(200, body: "message \(request.query("id") ?? "")"))]
}

let transport = PlatformLoader()
let store = OAuth.InMemoryTokenStore(OAuth.Token(accessToken: "stale", refreshToken: "r1"))
let tokenURL = server.baseURL + "/token"
let oauth = OAuth(store: store) { token in
    print("  the token is refreshed")
    let form = HTTPBody.form([("refresh_token", token.refreshToken ?? "")])
    let answer = try await transport.response(for: HTTPRequest(tokenURL, method: .post, body: form))
    // Nil would mean that this token cannot be refreshed; a log-in would follow.
    guard answer.status.isSuccess, let text = answer.text else { return nil }
    return OAuth.Token(accessToken: text, refreshToken: "r2")
} logIn: {
    nil
}
let loader = Retry(RetryPolicy.recommended) --> oauth --> transport

let messages = await withTaskGroup(of: String?.self) { group in
    for id in 1...10 {
        let url = "\(server.baseURL)/messages?id=\(id)"
        group.addTask { try? await loader.response(for: HTTPRequest(url)).text }
    }
    var received = Set<String>()
    for await message in group { received.insert(message ?? "nothing") }
    return received
}
for message in messages.sorted() { print("  \(message)") }
check(messages == Set((1...10).map { "message \($0)" }), "all ten were answered")
check(server.count(path: "/token") == 1, "after one refresh")
let sends = (1...10).map { server.count(path: "/messages?id=\($0)") }
check(sends.allSatisfy { $0 <= 2 }, "and none was sent more than twice: \(sends)")
check(await store.token()?.accessToken == "fresh", "the new token is in the store, for the next start of the program")
server.stop()
