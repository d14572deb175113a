// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Runs a property on 10,000 seeded cases; the first that fails names its seed, with which it can be had again.
func forEachSeed(_ property: (inout RandomSource) -> Bool) {
    for seed in UInt64(0)..<10_000 {
        var random = RandomSource(seed: seed)
        guard property(&random) else {
            Issue.record("the property fails with seed \(seed)")
            return
        }
    }
}

/// An exhaustive test takes each case whose number this divides: 1, and so all, but where a sanitizer makes all too
/// slow.
///
/// Scripts/sanitize chooses it. Code without threads or pointers gains nothing from a million runs under a sanitizer.
let exhaustiveStep: Int = {
    guard let text = getenv("REFRAIN_TEST_STEP"), let step = Int(String(cString: text)) else { return 1 }
    return max(1, step)
}()

/// A request to a host that no test talks to.
func sampleRequest(_ path: String = "", method: HTTPMethod = .get, body: HTTPBody = .empty) -> HTTPRequest {
    let url = URL(string: "https://api.example.com/\(path)") ?? URL(filePath: "/")
    return HTTPRequest(url, method: method, body: body)
}

extension HTTPRequest {
    /// The last part of the path, by which tests tell requests apart.
    var name: String { url.lastPathComponent }
}

extension HTTPResult {
    var errorCode: HTTPError.Code? {
        if case .failure(let error) = self { return error.code }
        return nil
    }

    var status: HTTPStatus? {
        if case .success(let response) = self { return response.status }
        return nil
    }
}
