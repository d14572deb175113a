// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

// Fetches a list from a server that is starting and returns 503 twice. The session retries by the recommended policy;
// the record of the request shows the attempts.

struct Person: Decodable, Sendable {
    let name: String
    let born: Int
}

let server = try FaultServer()
server.on("/people") { request in
    guard request.occurrence > 2 else { return [.respond(.init(503, body: "starting"))] }
    let list = #"[{"name":"Ada","born":1815},{"name":"Grace","born":1906}]"#
    return [.respond(.init(200, headers: [("Content-Type", "application/json")], body: list))]
}

let request = Session.default.request(server.baseURL + "/people", parameters: ["sort": "born"])
do {
    let people = try await request.validate().serializingDecodable([Person].self).value
    for person in people { print("\(person.name), \(person.born)") }
    for attempt in request.attempts { print("  \(attempt)") }
    check(people.map(\.name) == ["Ada", "Grace"], "the list came")
} catch {
    check(false, "the list comes: \(error)")
}
check(request.retryCount == 2, "by the third attempt")
check(server.count(path: "/people?sort=born") == 3, "which is what the server counted")

// Errors that a retry cannot resolve are not retried.
let missing = Session.default.request(server.baseURL + "/status/404").validate()
let result = await missing.serializingData().result
check(missing.retryCount == 0, "a 404 is final")
if case .failure(let error) = result { print("  \(error)") } else { check(false, "and an error after validate()") }
server.stop()
