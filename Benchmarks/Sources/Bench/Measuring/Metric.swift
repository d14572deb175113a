/// What is measured: the names as the clients print them and as `latest.json` holds them.
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
    static let nanoseconds = "nanosecondsPerCall"
    static let mallocsPerCall = "mallocsPerCall"
}
