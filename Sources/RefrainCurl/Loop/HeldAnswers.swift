/// How long to wait for sockets while libcurl may hold back what it has received.
///
/// libcurl 7.88 reads for whichever transfer it works on, and keeps what belongs to others on the connection of HTTP/2.
/// It forgets some of them: the rest of their answers is handed over when something else arrives, or at the next call
/// for any other reason. So a transfer whose answer has come waited until one of its limits (in 3 of 100 runs of 5,000
/// requests, 64 in flight). While nothing happens libcurl is called after 1 ms, and again after 10, 100 and each 1000.
struct HeldAnswers {
    /// How many transfers may go over HTTP/2.
    var transfers = 0
    private var quietRounds = 0
    private let isNeeded: Bool

    init(isNeeded: Bool = CurlVersion.holdsBackAnswers) { self.isNeeded = isNeeded }

    /// The longest that the loop may wait in this round, in milliseconds; no longer than `wait`.
    mutating func shorten(_ wait: Int32, hadActivity: Bool) -> Int32 {
        guard isNeeded, transfers > 0 else { return wait }
        quietRounds = hadActivity ? 0 : min(quietRounds + 1, Self.waits.count - 1)
        return min(wait, Self.waits[quietRounds])
    }

    private static let waits: [Int32] = [1, 10, 100, 1000]
}
