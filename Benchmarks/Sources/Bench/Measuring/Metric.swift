// SPDX-License-Identifier: Apache-2.0
/// The names of the metrics, in the output of the clients and in `latest.json`.
enum Metric {
    /// Requests in a second.
    static let rate = "rate"
    /// Processor seconds of the client for 1,000 requests.
    static let cpu = "cpuPer1000"
    static let p50 = "p50Microseconds"
    static let p99 = "p99Microseconds"
    /// The most memory that the client had, in bytes.
    static let peak = "peakBytes"
    /// Voluntary and involuntary context switches of the client for each request.
    static let switches = "switchesPerRequest"
    /// Calls of malloc and its siblings for each request, from runs of their own.
    static let mallocs = "mallocsPerRequest"
    static let failures = "failures"

    // The engine without a network.
    static let nanoseconds = "nanosecondsPerCall"
    static let mallocsPerCall = "mallocsPerCall"
    static let clockReads = "clockReadsPerCall"
    static let randomReads = "randomReadsPerCall"

    // Calls in a delay.
    static let bytesEach = "bytesEach"
    static let lateP50 = "lateP50Milliseconds"
    static let lateP99 = "lateP99Milliseconds"
    static let cancelling = "cancelMilliseconds"

    /// Requests that the server has counted, for each that was made.
    static let sendsPerCall = "sendsPerCall"

    // The burst.
    static let residentAtBegin = "residentAtBegin"
    static let residentAfterRest = "residentAfterRest"

    // The long run.
    static let residentAtTenth = "residentAtTenth"
    static let residentAtEnd = "residentAtEnd"
    static let filesAtTenth = "filesAtTenth"
    static let filesAtEnd = "filesAtEnd"

    // The command.
    static let seconds = "seconds"
    static let cpuSeconds = "cpuSeconds"
    static let fileBytes = "fileBytes"
    static let startMilliseconds = "startMilliseconds"
    static let getMilliseconds = "getMilliseconds"
}
