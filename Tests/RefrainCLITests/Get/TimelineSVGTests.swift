// SPDX-License-Identifier: Apache-2.0
import Refrain
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("Pictures for a browser", .timeLimit(.minutes(10)))
struct TimelineSVGTests {
    static let attempts = [
        AttemptRecord(
            number: 1,
            start: .zero,
            duration: .seconds(1),
            status: 503,
            decision: .retry,
            reason: .transientStatus,
            delay: .seconds(2)
        ),
        AttemptRecord(
            number: 2,
            start: .seconds(3),
            duration: .seconds(1),
            status: 200,
            decision: .finish,
            reason: .succeeded
        ),
    ]

    @Test("attempts and waits lie on one scale, and say what they came to and why")
    func rows() {
        let text = TimelineSVG(title: "GET /", summary: "200", Self.attempts, total: .seconds(4)).text
        // 430 units for 4 s, from 300 on.
        #expect(text.contains(#"<rect class="again" x="300.0" y="78" width="107.5" height="20" rx="2"/>"#))
        #expect(text.contains(#"<path class="wait" d="M407.5 88H622.5"/>"#))
        #expect(text.contains(#"<rect class="good" x="622.5" y="118" width="107.5" height="20" rx="2"/>"#))
        #expect(text.contains("again after 2.00 s: transientStatus"))
        #expect(text.contains(#"<text class="tick" x="730.0" y="170">4.00 s</text>"#))
        #expect(text.contains("prefers-color-scheme: dark"))
    }

    @Test("a failure, a redirect and a final attempt are distinguished")
    func kinds() {
        let attempts = [
            AttemptRecord(number: 1, start: .zero, duration: .seconds(1), decision: .retry, reason: .redirected),
            AttemptRecord(
                number: 2,
                start: .seconds(1),
                duration: .seconds(1),
                error: .timedOut,
                decision: .finish,
                reason: .notReplayable
            ),
        ]
        let text = TimelineSVG(title: "POST /", summary: "timedOut", attempts, total: .seconds(2)).text
        #expect(text.contains(#"class="passed""#) && text.contains(#"class="bad""#))
        #expect(!text.contains(#"class="good""#) && !text.contains(#"class="wait""#))
        #expect(text.contains(">timedOut</tspan>") && text.contains("notReplayable"))
    }

    @Test("R31: what a URL holds stays text")
    func hostile() {
        let url = "http://h/<script>\"&'\u{1}\u{85}\u{FFFE}" + String(repeating: "é", count: 5000)
        let text = TimelineSVG(title: url, summary: "]]>", Self.attempts, total: .seconds(4)).text
        #expect(text.contains("http://h/&lt;script&gt;&quot;&amp;'???é") && !text.contains("<script"))
        #expect(!text.contains("]]>") && text.utf8.count < 10_000)
    }

    @Test("no time, endless time and no attempts are drawn, too")
    func extremes() {
        let endless = AttemptRecord(
            number: .max,
            start: .longestDelay,
            duration: .longestDelay,
            decision: .retry,
            reason: .resumed,
            delay: .longestDelay
        )
        for total in [Duration.zero, .nanoseconds(1), .seconds(1), .longestDelay] {
            for attempts in [[], [endless], Self.attempts] {
                let text = TimelineSVG(title: "t", summary: "s", attempts, total: total).text
                #expect(text.hasPrefix("<svg ") && text.hasSuffix("</svg>\n"))
                #expect(!text.contains("nan") && !text.contains("inf"))
                #expect(text.split(separator: "class=\"tick\"").count <= 8)
            }
        }
    }

    @Test("refrain get draws the attempts that it made, and refuses to draw two requests")
    func command() async throws {
        let server = try FaultServer()
        let file = try ScratchFile()
        let url = server.baseURL + "/status/503?times=2"
        let ended = try await Executable.run(["get", "--backoff", "constant:5ms", "--timeline-svg", file.path, url])
        let text = String(decoding: try file.bytes(), as: UTF8.self)
        #expect(ended.status == 0 && ended.text == "ok\n")
        #expect(text.split(separator: "class=\"again\"").count == 3)
        #expect(text.contains("200 after 3 attempts in "))
        let two = try await Executable.run(["get", "--timeline-svg", file.path, url, url])
        #expect(two.status == 2 && two.errors.contains("--timeline-svg draws one request"))
        let nowhere = try await Executable.run(["get", "--timeline-svg", "/nonexistent/x", url])
        #expect(nowhere.status == 2 && nowhere.errors.contains("/nonexistent/x"))
        file.remove()
    }
}
