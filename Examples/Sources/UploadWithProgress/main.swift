// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

// An upload with progress. The server is busy at first, so the upload is sent twice; an idempotency key lets the server
// recognize the repetition. Without it, a POST that may have been processed would not be retried.

let server = try FaultServer()
server.on("/photos") { request in
    guard request.header("Idempotency-Key") != nil else { return [.respond(.init(400, body: "no key"))] }
    guard request.occurrence > 1 else { return [.respond(.init(503, body: "busy"))] }
    return [.respond(.init(201, body: "stored \(request.bodyLength) bytes"))]
}

let size = 3_000_000
let picture = HTTPBody.bytes([UInt8](repeating: 42, count: size), contentType: "image/png")

// Progress is reported on the transport's thread; a stream passes it on.
let (steps, step) = AsyncStream<Request.TransferProgress>.makeStream()
let upload = Session.default.upload(picture, to: server.baseURL + "/photos") { $0.idempotencyKey = .generated }
    .uploadProgress { step.yield($0) }
    .validate()

let bar = Task {
    var last: (quarter: Int, completed: Int64) = (-1, 0)
    for await progress in steps {
        let quarter = Int((progress.fractionCompleted ?? 0) * 4)
        if quarter != last.quarter { print("  \(progress.completed) of \(progress.total ?? 0) bytes") }
        last = (quarter, progress.completed)
    }
    return last.completed
}

do {
    let answer = try await upload.serializingString().value
    print(answer)
    check(answer == "stored \(size) bytes", "the server has all of it")
} catch {
    check(false, "the upload succeeds: \(error)")
}
step.finish()
check(await bar.value == Int64(size), "the progress went to the end")

let sends = server.requests(toPath: "/photos")
let keys = Set(sends.compactMap { $0.header("Idempotency-Key") })
check(sends.count == 2 && keys.count == 1, "it was sent twice under one key")
check(Set(sends.compactMap(\.bodySHA256)).count == 1, "and was the same both times")
server.stop()
