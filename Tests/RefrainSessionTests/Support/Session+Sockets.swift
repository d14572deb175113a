// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainCurl
import RefrainSession
import RefrainTesting

extension Session {
    /// A session over real sockets whose waits between attempts are over at once, unless `clock` is nil.
    static func overSockets(
        _ interceptor: (any RequestInterceptor)? = nil,
        monitors: [any EventMonitor] = [],
        clock: InstantClock? = InstantClock(),
        change: (inout Settings) -> Void = { _ in }
    ) -> Session {
        testing(CurlLoader(), interceptor: interceptor, monitors: monitors, clock: clock, change: change)
    }
}

extension FaultServer {
    /// Answers a path with these statuses in turn, and with the last of them from then on.
    func answer(_ path: String, _ statuses: Int...) {
        on(path) { request in
            let status = statuses[min(request.occurrence, statuses.count) - 1]
            return [.respond(.init(status, headers: [("Content-Type", "text/plain")], body: "\(status)"))]
        }
    }
}

/// Holds back the threads of so many requests until all of them have come.
final class Gathering: Sendable {
    private let group = DispatchGroup()
    private let count: Int

    init(_ count: Int) {
        self.count = count
        for _ in 0..<count { group.enter() }
    }

    /// Returns when all have come, or after a minute and a half, so that a test fails and does not hang; later requests
    /// pass.
    func wait(_ request: FaultServer.Request) {
        guard request.occurrence <= count else { return }
        group.leave()
        _ = group.wait(timeout: .now() + .seconds(90))
    }
}

extension FaultServer.LogEntry {
    /// The values of a header field, one for each line of it.
    func values(_ name: String) -> [String] {
        headers.filter { $0.first?.lowercased() == name.lowercased() }.compactMap(\.last)
    }
}
