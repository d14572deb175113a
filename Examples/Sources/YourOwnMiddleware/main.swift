// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

// A custom middleware: a value with one method. It adds a unique number to each request, for a server that rejects
// repeated numbers, as with signed requests. Its position in the chain matters.

/// Sets `X-Nonce` to a new number.
struct Nonce: HTTPMiddleware {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        var marked = request
        marked.headers["X-Nonce"] = String(UInt64.random(in: .min ... .max), radix: 16)
        return await next.load(marked)
    }
}

/// Prints the result of each exchange, and returns it unchanged.
struct Journal: HTTPMiddleware {
    let name: String

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let begun = ContinuousClock.now
        let result = await next.load(request)
        let outcome = (try? result.get()).map { "\($0.status)" } ?? "failed"
        print("  \(name): \(outcome) after \(begun.duration(to: .now))")
        return result
    }
}

let server = try FaultServer()
for path in ["/below", "/above"] {
    server.on(path) { request in
        // The first attempt gets a 503; a repeated number is always rejected.
        let seen =
            request.occurrence > 1
            && server.log.dropLast().contains {
                $0.path == path && $0.header("X-Nonce") == request.header("X-Nonce")
            }
        if seen { return [.respond(.init(403, body: "seen before"))] }
        return [.respond(request.occurrence == 1 ? .init(503) : .ok)]
    }
}

// After the retry stage, a stage sees each attempt.
let below =
    Journal(name: "call") --> Retry(RetryPolicy.recommended) --> Nonce() --> Journal(name: "try") --> PlatformLoader()
let response = try await below.response(for: HTTPRequest(server.baseURL + "/below"))
let nonces = server.requests(toPath: "/below").compactMap { $0.header("X-Nonce") }
check(response.status == .ok, "the second attempt was let in")
check(nonces.count == 2 && Set(nonces).count == 2, "each attempt had a number of its own")

// Before it, a stage sees the call: both attempts have the same number, and this server rejects the second one.
let above = Nonce() --> Retry(RetryPolicy.recommended) --> PlatformLoader()
let refused = try await above.response(for: HTTPRequest(server.baseURL + "/above"))
check(refused.status == 403, "the other way round the second attempt is refused")
server.stop()
