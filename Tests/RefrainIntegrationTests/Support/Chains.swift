// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import RefrainTesting

/// The recommended policy with another schedule.
func policy(_ schedule: Backoff) -> RetryPolicy { RetryPolicy.recommended.with(schedule: schedule) }

/// Attempts that follow each other after a few milliseconds.
func quick(_ attempts: Int = 3) throws -> RetryPolicy {
    policy(.constant(delay: .milliseconds(2), maxAttempts: attempts))
}

/// A transport with so many connections to an origin.
func transport(_ connections: Int = 32) throws -> CurlLoader {
    var configuration = CurlLoader.Configuration()
    configuration.maximumConnectionsPerHost = connections
    return try CurlLoader(configuration: configuration)
}

extension FaultServer.LogEntry {
    /// The values of a header field, one for each line of it.
    func values(_ name: String) -> [String] {
        headers.filter { $0.first?.lowercased() == name.lowercased() }.compactMap(\.last)
    }
}

extension FaultServer {
    /// The time between the first two requests for a path, in seconds.
    func firstGap(_ path: String) -> Double {
        let times = requests(toPath: path).map(\.time)
        return times.count < 2 ? -1 : times[1] - times[0]
    }
}
