// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// A small app, ported from Alamofire: login, a list behind a token that must be refreshed, an upload with progress, and
// a download that is resumed. Its server fails on purpose.

let server = try startBackend()
let app = App(base: server.baseURL)
let folder = FileManager.default.temporaryDirectory.appending(path: "refrain-port-\(server.port)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

do {
    print("Log in")
    try await app.logIn(name: "ada", password: "lovelace")
    check(app.authentication.credential?.access == "expired", "there is a token, and it is out of date")

    print("List, twice at a time")
    async let first = app.photos()
    async let second = app.photos()
    let (photos, again) = try await (first, second)
    check(photos.map(\.title) == ["Lake", "Hill"] && again.count == 2, "both lists came")
    check(server.count(path: "/token") == 1, "one refresh for both")

    print("Upload")
    let picture = folder.appending(path: "picture.bin")
    try Data(repeating: 42, count: 400_000).write(to: picture)
    let answer = try await app.upload(picture) { progress in
        guard progress.fractionCompleted == 1 else { return }
        print("  sent \(progress.completed) bytes")
    }
    check(answer == "stored 400000 bytes", "the server has the file")
    let keys = server.requests(toPath: "/photos/new").compactMap { $0.header("Idempotency-Key") }
    check(keys.count == 2 && Set(keys).count == 1, "it was sent twice under one key")

    print("Download")
    let path = "/bytes/500000?cut=200000&times=2"
    let (file, attempts) = try await app.download(path, to: folder.appending(path: "archive.bin"))
    check(try Data(contentsOf: file).count == 500_000, "the file is whole")
    check(attempts == 3, "it was cut twice, and went on")
    let ranges = server.requests(toPath: path).map { $0.header("Range") }
    check(ranges == [nil, "bytes=200000-", "bytes=400000-"], "each attempt asked for what was missing")
} catch {
    check(false, "the app works: \(error)")
}

try FileManager.default.removeItem(at: folder)
server.stop()
print("everything went as it should")
