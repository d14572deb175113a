// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
import Foundation
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("The end of the process", .timeLimit(.minutes(10)))
struct ProcessExitTests {
    @Test("While a process exits no thread of a loader ends: it has ended before, or does nothing more")
    func waitsForThread() async {
        await #expect(processExitsWith: .success) {
            // It runs last, after those of all libraries.
            atexit {
                guard hasLoopThread() else { return }
                usleep(100_000)
                if !hasLoopThread() { _exit(17) }
            }
            let server = try FaultServer()
            do {
                let loader = CurlLoader()
                _ = try await loader.response(for: HTTPRequest(server.baseURL + "/"))
            }
            exit(0)
        }
    }
}

private func hasLoopThread() -> Bool {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return threads.contains {
        (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == "refrain-curl\n"
    }
}
#endif
