// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// A download over a connection that is interrupted twice. It is resumed, because the server identifies the version of
// the content (a strong ETag): no byte is fetched twice, and versions are never mixed.

let server = try FaultServer()
let path = "/bytes/900000?cut=300000&times=2"
let file = FileManager.default.temporaryDirectory.appending(path: "refrain-\(server.port).bin")

let download = Session.default.download(server.baseURL + path, to: file)
    .downloadProgress { progress in
        guard let total = progress.total, progress.completed == total else { return }
        print("  received \(progress.completed) of \(total) bytes")
    }
    .validate()

do {
    let saved = try await download.serializingDownloadedFileURL().value
    let whole = try await Session.default.request(server.baseURL + "/bytes/900000").serializingData().value
    check(try Data(contentsOf: saved) == whole, "the file is what the server has, byte for byte")
    try FileManager.default.removeItem(at: saved)
} catch {
    check(false, "the download succeeds: \(error)")
}

for attempt in download.attempts { print("  \(attempt)") }
let requests = server.requests(toPath: path)
check(
    requests.map { $0.header("Range") } == [nil, "bytes=300000-", "bytes=600000-"],
    "each attempt asked for the rest"
)
check(requests.dropFirst().allSatisfy { $0.header("If-Range") != nil }, "if it is still the same version")

// Without that support the download starts over, and is complete as well.
let stubborn = server.baseURL + "/bytes/300000?cut=100000&times=1&no-range=1"
let second = Session.default.download(stubborn, to: file).validate()
switch await second.serializingDownloadedFileURL().result {
case .success(let saved):
    check(try Data(contentsOf: saved).count == 300_000, "a server without ranges: started over, and whole")
    try FileManager.default.removeItem(at: saved)
case .failure(let error):
    check(false, "a server without ranges: \(error)")
}
server.stop()
