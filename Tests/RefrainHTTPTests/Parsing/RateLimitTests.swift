// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import TestSupport
import Testing

@Suite("Rate limits", .computing)
struct RateLimitTests {
    static let now = WallClock.Instant(sinceEpoch: .seconds(1_559_559_600))

    static func limits(_ fields: [String: [String]]) -> [RateLimit] { limits(RateLimiter.Fields(), fields) }

    static func limits(_ reading: RateLimiter.Fields, _ fields: [String: [String]]) -> [RateLimit] {
        reading.limits(wallClock: now) { fields[$0] ?? [] }
    }

    static func reset(_ text: String, _ reset: RateLimiter.Fields.Reset = .automatic) -> Duration? {
        limits(.init(reset: reset), ["x-ratelimit-reset": [text]]).first?.reset
    }

    @Test("R19: the structured fields give each limit its name, remainder, reset, quota and window")
    func structured() {
        let limits = Self.limits([
            "ratelimit": [#""burst";r=50;t=30"#, #""daily";r=3;pk=:cHsdsRa894==:;x=1, old;r=0;t=1.5"#],
            "ratelimit-policy": [#""burst";q=100;w=60, "daily";q=1000;w=86400;qu="requests""#],
        ])
        #expect(
            limits == [
                RateLimit(name: "burst", remaining: 50, reset: .seconds(30), quota: 100, window: .seconds(60)),
                RateLimit(name: "daily", remaining: 3, quota: 1000, window: .seconds(86_400)),
                RateLimit(name: "old", remaining: 0, reset: .milliseconds(1500)),
            ]
        )
    }

    @Test("R19: the older dictionary and the separate fields of the draft are read")
    func olderDrafts() {
        let expected = [RateLimit(remaining: 50, reset: .seconds(50), quota: 100)]
        #expect(Self.limits(["ratelimit": ["limit=100, remaining=50, reset=50"]]) == expected)
        let separate = ["ratelimit-limit": ["100, 100;w=60"], "ratelimit-remaining": ["50"], "ratelimit-reset": ["50"]]
        #expect(Self.limits(separate) == expected)
    }

    @Test("R19: the X- fields are read", arguments: ["x-ratelimit", "x-rate-limit"])
    func unofficial(prefix: String) {
        let fields = ["\(prefix)-limit": ["60"], "\(prefix)-remaining": [" 0 "], "\(prefix)-reset": ["1559559660"]]
        #expect(Self.limits(fields) == [RateLimit(remaining: 0, reset: .seconds(60), quota: 60)])
    }

    @Test(
        "R19: unconfigured, the size of a number tells what it is",
        arguments: [
            ("0", .zero), ("30", .seconds(30)), ("1.25", .milliseconds(1250)),
            ("1000000000", .seconds(1_000_000_000)), ("1000000001", .zero), ("1000000000.5", .zero),
            ("1559559630", .seconds(30)), ("1559559630.5", .milliseconds(30_500)),
            ("1559559630250", .milliseconds(30_250)), ("1000000000000", .seconds(998_440_440_400)),
            ("1000000000000.1", .zero), ("9999999999999999999999999999999999999999", .longestDelay),
        ] as [(String, Duration)]
    )
    func automatic(text: String, reset: Duration) {
        #expect(Self.reset(text) == reset)
    }

    @Test("R19: configured, a number is what it is said to be")
    func configured() {
        #expect(Self.reset("1500", .delay(.milliseconds)) == .milliseconds(1500))
        #expect(Self.reset("1559559630", .delay(.seconds)) == .seconds(1_559_559_630))
        #expect(Self.reset("1559559630", .epoch(.seconds)) == .seconds(30))
        #expect(Self.reset("1559559630000", .epoch(.milliseconds)) == .seconds(30))
        #expect(Self.reset("30", .epoch(.seconds)) == .zero)
        #expect(Self.reset("0.5", .delay(.milliseconds)) == .microseconds(500))
        let plain = RateLimiter.Fields(reset: .epoch(.seconds))
        #expect(Self.limits(plain, ["ratelimit": ["a;r=0;t=30"]]).first?.reset == .seconds(30))
        let structured = RateLimiter.Fields(structuredReset: .delay(.milliseconds))
        #expect(Self.limits(structured, ["ratelimit": ["a;r=0;t=30"]]).first?.reset == .milliseconds(30))
    }

    @Test(
        "R19: an epoch with a fraction is read within the second that Date names",
        arguments: [(1_559_559_600.6, Duration.milliseconds(600)), (1_559_559_605.6, .milliseconds(1_200))]
    )
    func fractionalEpoch(_ now: Double, _ expected: Duration) {
        // The wall clock is within that second in the first case, and 5 s off in the second.
        let fields = ["x-ratelimit-reset": ["1559559601.2"], "date": ["Mon, 03 Jun 2019 11:00:00 GMT"]]
        let wall = WallClock.Instant(sinceEpoch: .milliseconds(Int64((now * 1000).rounded())))
        let limits = RateLimiter.Fields().limits(wallClock: wall) { fields[$0] ?? [] }
        #expect(limits.first?.reset == expected)
    }

    @Test(
        "R18, R19: a timestamp with a fraction is read as an epoch with one is, and never ends early",
        arguments: [
            ("2019-06-03T11:00:01.2Z", Duration.milliseconds(600)),
            ("2019-06-03T13:00:01.2000+02:00", .milliseconds(600)),
            ("2019-06-03T11:00:01Z", .seconds(1)), ("2019-06-03T11:00:00.599Z", .zero),
        ]
    )
    func fractionalTimestamp(_ text: String, _ expected: Duration) {
        var fields = RateLimiter.Fields()
        fields.families = [.init(.requests, limit: "l", remaining: "r", reset: "t", unit: .timestamp)]
        let values = ["r": ["1"], "t": [text], "date": ["Mon, 03 Jun 2019 11:00:00 GMT"]]
        let wall = WallClock.Instant(sinceEpoch: .milliseconds(1_559_559_600_600))
        #expect(fields.limits(wallClock: wall) { values[$0] ?? [] }.first?.reset == expected)
    }

    @Test("R19: an epoch is read against the response's own Date")
    func ownDate() {
        let fields = ["x-ratelimit-reset": ["784111797"], "date": ["Sun, 06 Nov 1994 08:49:37 GMT"]]
        #expect(Self.limits(.init(reset: .epoch(.seconds)), fields).first?.reset == .seconds(20))
    }

    @Test(
        "R19: malformed numbers are ignored",
        arguments: [
            "", " ", "-1", "+1", "1e3", "1.", ".5", "1..5", "1.5.", "NaN", "nan", "inf", "Infinity", "0x1F", "٣",
            "\u{FF11}", "1\0", "1\r\n", "1 2", "1,", "Sun, 06 Nov 1994 08:49:37 GMT",
        ]
    )
    func malformedNumbers(text: String) {
        #expect(Self.limits(["x-ratelimit-remaining": [text], "x-ratelimit-reset": [text]]).isEmpty)
        let half = Self.limits(["x-ratelimit-remaining": ["0"], "x-ratelimit-reset": [text]])
        #expect(half == [RateLimit(remaining: 0)])
    }

    @Test(
        "R19: malformed structured fields and items are ignored",
        arguments: [
            "", "\"a\"", "\"a\";r", "\"a\";r=-1", "\"a\";r=x;t=1", "\"a\";t=1", "\"a\";r=1;t=-1", "\"a\";r=1;t",
            "1;r=1;t=1", "(a);r=1", "\"a\";r=1;t=1,", "limit=100", "remaining=x", "remaining=(1)", "\"a;r=1",
            "\"a\";r=1000000000000000", "\0",
        ]
    )
    func malformedStructured(text: String) {
        #expect(Self.limits(["ratelimit": [text], "ratelimit-policy": [text]]).isEmpty)
    }

    @Test("R19: the fields of a stored response are ignored")
    func stored() {
        let fields = ["ratelimit": ["a;r=0;t=30"], "x-ratelimit-remaining": ["0"], "x-ratelimit-reset": ["9"]]
        #expect(Self.limits(fields).count == 2)
        #expect(Self.limits(fields.merging(["age": ["0"]]) { $1 }).isEmpty)
        #expect(Self.limits(fields.merging(["age": ["x"]]) { $1 }).isEmpty)
    }

    @Test("R19: repeated values pair up or count once; contradictory ones are ignored")
    func repetition() {
        func limits(_ remaining: [String], _ reset: [String]) -> [RateLimit] {
            Self.limits(["x-ratelimit-remaining": remaining, "x-ratelimit-reset": reset])
        }
        #expect(limits(["0", "0"], ["5"]) == [RateLimit(remaining: 0, reset: .seconds(5))])
        #expect(limits(["0, 7"], ["5", "9"]).map(\.remaining) == [0, 7])
        #expect(limits(["0, 0"], ["5, 9"]).map(\.reset) == [.seconds(5), .seconds(9)])
        #expect(limits(["0"], ["5", "9"]).isEmpty)
        #expect(limits(["0", "7"], []).isEmpty)
        #expect(limits([], ["5"]) == [RateLimit(reset: .seconds(5))])
    }

    @Test("R19: of several limits the one that binds first counts")
    func binding() {
        let exhausted = RateLimit(name: "a", remaining: 0, reset: .seconds(5))
        let longer = RateLimit(name: "b", remaining: 0, reset: .seconds(9))
        let few = RateLimit(name: "c", remaining: 1, reset: .seconds(60))
        let many = RateLimit(name: "d", remaining: 100, reset: .seconds(3600))
        let unknown = RateLimit(name: "e", reset: .seconds(3600))
        let endless = RateLimit(name: "f", remaining: 0)
        #expect(RateLimit.binding(of: [many, exhausted, few, longer, unknown, endless]) == longer)
        #expect(RateLimit.binding(of: [many, few, unknown, exhausted]) == exhausted)
        #expect(RateLimit.binding(of: [many, unknown, few]) == unknown)
        #expect(RateLimit.binding(of: [many, few]) == few)
        #expect(RateLimit.binding(of: []) == nil)
        let fields = ["ratelimit": [#""burst";r=9;t=1, "daily";r=0;t=700"#]]
        #expect(RateLimiter.Fields().binding(wallClock: Self.now) { fields[$0] ?? [] }?.name == "daily")
    }

    @Test("R19: a refusal is waited out only where the quota may be used up")
    func retryDelay() {
        #expect(RateLimit(remaining: 0, reset: .seconds(5)).retryDelay == .seconds(5))
        #expect(RateLimit(reset: .seconds(5)).retryDelay == .seconds(5))
        #expect(RateLimit(remaining: 3, reset: .seconds(5)).retryDelay == nil)
        #expect(RateLimit(remaining: 0).retryDelay == nil)
    }

    @Test("R19: 10,000 random resets are within bounds, however they are read")
    func anything() {
        let seed = UInt64(0x5EED)
        var random = RandomSource(seed: seed)
        let readings: [RateLimiter.Fields.Reset] = [
            .automatic, .delay(.seconds), .delay(.milliseconds), .epoch(.seconds), .epoch(.milliseconds),
        ]
        for _ in 0..<10_000 {
            let digits = String(
                (0...Int.random(in: 0...40, using: &random)).map { _ in
                    "0123456789".randomElement(using: &random) ?? "0"
                }
            )
            let text = digits + (Bool.random(using: &random) ? "." + digits : "")
            for reading in readings {
                guard let reset = Self.reset(text, reading), reset >= .zero, reset <= .longestDelay else {
                    Issue.record("seed \(seed): \(text)")
                    return
                }
            }
        }
    }
}
