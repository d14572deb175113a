// SPDX-License-Identifier: Apache-2.0
extension BatchTests.Vector {
    private static let full = 0.0...0.5

    private static func vector(
        _ rule: String,
        _ members: String,
        _ decision: String,
        _ rules: [Int] = [],
        delay: ClosedRange<Double>? = nil,
        retryAfterDate: Double? = nil
    ) -> Self {
        Self(
            rule: rule,
            question: "{\"method\":" + members + ",\"now\":1559559600}",
            decision: decision,
            rules: rules,
            delay: delay,
            retryAfterDate: retryAfterDate
        )
    }

    private static func after(_ value: String) -> String { #","headers":[["Retry-After","\#(value)"]]"# }

    static let all: [Self] = replay + classification + timing + amount

    private static let replay: [Self] = [
        vector("R1", #""GET","status":503"#, "retry", [1, 7, 12], delay: full),
        vector(
            "R1",
            #""PUT","error":"networkConnectionLost","bytes_sent":900,"body":"replayable""#,
            "retry",
            [1, 8],
            delay: full
        ),
        vector("R1", #""QUERY","status":503"#, "retry", [1], delay: full),
        vector("R1", #""get","status":503"#, "finish", [2]),
        vector("R2", #""POST","error":"networkConnectionLost","bytes_sent":120"#, "finish", [2]),
        vector("R2", #""POST","error":"networkConnectionLost""#, "finish", [2]),
        vector("R2 a", #""POST","error":"cannotConnectToHost","bytes_sent":0"#, "retry", [2, 8], delay: full),
        vector("R2 a", #""POST","error":"networkConnectionLost","bytes_sent":0"#, "retry", [2], delay: full),
        vector("R2 a", #""POST","error":"cannotConnectToHost","bytes_sent":1"#, "finish", [2]),
        vector("R2 b", #""POST","error":"requestNotProcessed","bytes_sent":120"#, "retry", [2], delay: full),
        vector("R2 b", #""POST","status":408,"bytes_sent":120"#, "retry", [2, 7], delay: full),
        vector("R2 b", #""PATCH","status":425"#, "retry", [2], delay: full),
        vector("R2 b", #""POST","status":421"#, "retry", [2], delay: full),
        vector("R2 b", #""POST","status":413"# + after("2"), "retry", [2, 15, 17], delay: 2.0...2.2),
        vector("R2 c", #""POST","status":503,"idempotency_key":"k""#, "retry", [2, 5], delay: full),
        vector("R2 c", #""POST","status":503,"idempotency_key":"""#, "finish", [2]),
        vector("R2 d", #""POST","status":503,"replay":"allowed""#, "retry", [2], delay: full),
        vector("R2 d", #""GET","status":503,"replay":"forbidden""#, "finish", [2]),
        vector("R2 e", #""POST","status":429"# + after("3"), "retry", [2, 15], delay: 3.0...3.3),
        vector("R2 e", #""POST","status":429"#, "retry", [2, 7], delay: full),
        vector("R2 e", #""POST","status":429"# + after("3.5"), "retry", [2, 7], delay: full),
        vector("R2 e", #""POST","status":503"# + after("7"), "retry", [2, 15, 17], delay: 7.0...7.7),
        vector("R2 e", #""POST","status":503"# + after("3.5"), "finish", [2]),
        vector("R2", #""POST","status":502"# + after("7"), "finish", [2]),
        vector("R4", #""PUT","status":503,"body":"once-read""#, "finish", [4]),
        vector("R4", #""PUT","error":"cannotConnectToHost","bytes_sent":0,"body":"once""#, "retry", [1], delay: full),
        vector("R4", #""POST","status":503,"body":"once-read","replay":"allowed""#, "finish", [4]),
        vector("R5", #""POST","status":409,"idempotency_key":"k""# + after("1"), "retry", [5, 15], delay: 1.0...1.1),
        vector("R5", #""POST","status":422,"idempotency_key":"k""#, "finish", [5]),
    ]

    private static let classification: [Self] = [
        vector("R7", #""GET","status":200"#, "finish"),
        vector("R7", #""GET","status":404"#, "finish", [7]),
        vector("R7", #""GET","status":409"#, "finish", [7]),
        vector("R7", #""GET","status":501"#, "finish", [7]),
        vector("R7", #""GET","status":511"#, "finish", [7]),
        vector("R7", #""GET","status":599"#, "retry", [7], delay: full),
        vector("R7", #""GET","status":429"#, "retry", [7], delay: full),
        vector("R7", #""GET","status":403"#, "finish", [7]),
        vector("R7", #""GET","status":403"# + after("1"), "retry", [7, 15], delay: 1.0...1.1),
        vector("R7", #""GET","status":413"#, "finish", [7]),
        vector("R8", #""GET","error":"serverCertificateUntrusted""#, "finish", [8]),
        vector("R8", #""GET","error":"badServerResponse","attempt":1"#, "retry", [8], delay: full),
        vector("R8", #""GET","error":"badServerResponse","attempt":2"#, "finish", [8]),
        vector("R8", #""GET","error":"dataLengthExceedsMaximum""#, "finish", [8]),
        vector("R9", #""GET","error":"cancelled""#, "finish", [9]),
        vector("Alamofire", #""GET","status":503,"attempt":2,"policy":"alamofire""#, "retry", delay: 1.0...1.0),
        vector("Alamofire", #""GET","status":429,"policy":"alamofire""#, "finish"),
        vector(
            "Alamofire",
            #""GET","error":"serverCertificateHasBadDate","policy":"alamofire""#,
            "retry",
            delay: 0.5...0.5
        ),
    ]

    private static let timing: [Self] = [
        vector("R12", #""GET","status":503,"attempt":2"#, "retry", [12], delay: 0.0...1.0),
        vector("R12", #""GET","status":503,"attempt":3"#, "finish", [12]),
        vector("R15", #""GET","status":503"# + after("7"), "retry", [15, 17], delay: 7.0...7.7),
        vector("R15", #""GET","status":503"# + after("-7"), "retry", [12], delay: full),
        vector("R15", #""GET","status":503"# + after("+7"), "retry", [12], delay: full),
        vector("R15", #""GET","status":503"# + after(""), "retry", [12], delay: full),
        vector("R15", #""GET","status":503"# + after("٧"), "retry", [12], delay: full),
        vector(
            "R15",
            #""GET","status":503,"headers":[["Retry-After","7"],["retry-after","8"]]"#,
            "retry",
            [12],
            delay: full
        ),
        vector(
            "R15",
            #""GET","status":503,"headers":[["Retry-After","7"],["retry-after","7"]]"#,
            "retry",
            [15],
            delay: 7.0...7.7
        ),
        vector(
            "R15",
            #""GET","status":503"# + after("Mon, 03 Jun 2019 11:00:10 GMT"),
            "retry",
            [15, 16],
            delay: 10.0...11.0
        ),
        vector("R15", #""GET","status":503"# + after("Mon Jun  3 11:00:10 2019"), "retry", [16], delay: 10.0...11.0),
        vector(
            "R15",
            #""GET","status":503"# + after("Monday, 03-Jun-19 11:00:10 GMT"),
            "retry",
            [16],
            delay: 10.0...11.0
        ),
        vector("R15", #""GET","status":503"# + after("Sat, 30 Feb 2019 11:00:10 GMT"), "retry", [12], delay: full),
        vector(
            "R16",
            #""GET","status":503,"headers":[["Retry-After","Mon, 03 Jun 2019 12:00:10 GMT"],["Date","Mon, 03 Jun 2019 12:00:00 GMT"]]"#,
            "retry",
            [16],
            delay: 10.0...11.0
        ),
        vector(
            "R16",
            #""GET","status":503,"headers":[["Retry-After","Mon, 03 Jun 2019 11:00:10 GMT"],["Date","Mon, 03 Jun 2019 10:00:00 GMT"],["Age","5"]]"#,
            "retry",
            [16],
            delay: 10.0...11.0
        ),
        vector("R16", #""GET","status":503"# + after("Mon, 03 Jun 2019 10:00:00 GMT"), "retry", [16], delay: full),
        vector("R17", #""GET","status":503"# + after("20"), "retry", [17], delay: 20.0...21.0),
        vector("R18", #""GET","status":503"# + after("300"), "retry", [17], delay: 300.0...300.0),
        vector("R18", #""GET","status":503"# + after("301"), "come_back", [18], retryAfterDate: 1_559_559_901.0),
        vector(
            "R18",
            #""GET","status":503,"deadline":30,"elapsed":25"# + after("7"),
            "come_back",
            [18],
            retryAfterDate: 1_559_559_607.0
        ),
        vector(
            "R19",
            #""GET","status":429,"headers":[["X-RateLimit-Reset","1559559610"]]"#,
            "retry",
            [19],
            delay: 10.0...11.0
        ),
        vector("R19", #""GET","status":429,"headers":[["x-rate-limit-reset","5"]]"#, "retry", [19], delay: 5.0...5.5),
        vector(
            "R19",
            #""GET","status":429,"headers":[["X-RateLimit-Reset","1559559610"],["Retry-After","2"]]"#,
            "retry",
            [15],
            delay: 2.0...2.2
        ),
    ]

    private static let amount: [Self] = [
        vector("R20", #""GET","status":503,"deadline":30,"elapsed":30"#, "finish", [20]),
        vector("R20", #""GET","status":503,"deadline":30,"elapsed":2"#, "retry", [12], delay: full),
        vector("R20", #""GET","error":"timedOut","deadline":0"#, "finish", [20]),
    ]
}
