// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainQueue
import RefrainTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// A service with an outbox: orders are stored before they are sent, and are placed once, although the server loses its
// first answer and refuses the second order for a while. One that the server rejects is left for a person.

let server = try FaultServer()
server.on("/rejected") { _ in [.respond(.init(422, body: "no such tea"))] }
server.on("/busy") { request in
    request.occurrence == 1 ? [.respond(.init(503, headers: [("Retry-After", "1")]))] : [.respond(.init(201))]
}

let file = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString).sqlite").path()
let queue = try await RequestQueue(.sqlite(file))

func order(_ path: String) throws -> HTTPRequest {
    var request = try HTTPRequest(server.baseURL + path, method: .post, body: .text("one tea"))
    request.idempotencyKey = .generated
    return request
}

// The server places this order, and closes the connection in place of an answer.
try await queue.enqueue(try order("/idempotent?fault=close&times=1"), lane: "customer-7", dedupe: "order 1")
try await queue.enqueue(try order("/busy"), lane: "customer-7", dedupe: "order 2")
try await queue.enqueue(try order("/rejected"), dedupe: "order 3")
check(try await queue.enqueue(try order("/busy"), dedupe: "order 2") == nil, "an order is not enqueued twice")

// The program may end here: another one finds the orders in the file.
let session = Session(interceptor: RetryPolicy.recommended.with(schedule: .constant(delay: .milliseconds(50))))
let worker = queue.worker(on: session, concurrency: 4)
let (ended, continuation) = AsyncStream.makeStream(of: RequestQueue.Item.self)
worker.onEnd { continuation.yield($0) }
let service = Task { try await worker.run() }

var count = 0
for await item in ended {
    print("\(item.name ?? ""): \(item.outcome), \(item.error ?? "no error")")
    for attempt in item.attempts { print("  \(attempt)") }
    count += 1
    if count == 3 { break }
}
service.cancel()
try await service.value

check(try await queue.items(.done).count == 2, "two orders are done")
let sent = server.requests(toPath: "/idempotent")
check(sent.count == 2, "the first one was sent twice")
check(Set(sent.map { $0.header("Idempotency-Key") }).count == 1, "with one key, so that it was placed once")

let dead = try await queue.items(.failed)
check(dead.map(\.status) == [422], "the third one is a dead letter")
for item in dead { try await queue.settle(item.id, .done) }
check(try await queue.items(.failed).isEmpty, "until a person has settled it")
server.stop()
