// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// `withRetry` is the only code that tries again: nothing else sleeps, no other file has a loop over attempts, and no
/// stage calls the rest of its chain in a loop.
@Suite("One loop over attempts", .computing)
struct OneLoopTests {
    static let engine = "RefrainCore/Engine/"

    /// Where code may sleep: a folder or a file, and the reason.
    static let sleepers = [
        engine: "sleeps between attempts",
        "RefrainCore/Time/": "the timer itself",
        "RefrainTesting/Server/": "a server that is slow on command",
        "RefrainTesting/Clock/": "clocks for tests, which try nothing again",
        "RefrainTesting/Mock/": "a mock that is slow on command",
        "RefrainTesting/Chaos/Chaos.swift": "a delay that is a fault, before the request is forwarded once",
        "RefrainAlamofire/Moya/MoyaProvider.swift": "a stub that is slow on command",
        "RefrainCLI/Get/Places.swift": "one wait beside a request, after which it gives its place up",
        "RefrainCLI/Get/State/RunPlan.swift": "one wait before rows of the state are written",
        "RefrainCLI/Terminal/StatusLine.swift": "draws a line at intervals",
        "RefrainHTTP/Redirect/Redirect.swift": "a redirect may ask for a wait before its target is requested",
        "RefrainHTTP/Timeout/CallDeadline.swift": "one wait beside a piece of work, to end the work",
    ]

    /// Files with a loop that sleeps or calls `next.load` and is not a retry, and the reason.
    static let otherLoops = [
        "RefrainCore/Time/TimerClock.swift": "until the system has resources for the timer's thread",
        "RefrainHTTP/Redirect/Redirect.swift": "each round is a request for another target",
    ]

    @Test("only `withRetry` sleeps between attempts, and only one file has a loop over them")
    func onlyTheEngine() throws {
        var breaches: [String] = []
        var engines: Set<String> = []
        for file in try SourceTree().files {
            for finding in Finding.all(in: file.source) {
                let isAllowed =
                    switch finding.kind {
                    case .sleep: Self.sleepers.keys.contains { file.path.hasPrefix($0) }
                    case .loop: file.path.hasPrefix(Self.engine) || Self.otherLoops[file.path] != nil
                    case .next: Self.otherLoops[file.path] != nil
                    }
                if !isAllowed { breaches.append("Sources/\(file.path):\(finding.line): \(finding.kind.rawValue)") }
                if finding.kind == .loop, file.path.hasPrefix(Self.engine) { engines.insert(file.path) }
            }
        }
        #expect(breaches == [])
        #expect(engines.count == 1, "\(engines.sorted())")
    }

    @Test("every file that may sleep or loop is there")
    func everyExceptionIsThere() throws {
        let paths = try SourceTree().files.map(\.path)
        for exception in [String](Self.sleepers.keys) + Self.otherLoops.keys {
            #expect(paths.contains { $0.hasPrefix(exception) }, "\(exception)")
        }
    }

    @Test(
        "a sleep, a loop over attempts and a loop over `next.load` are found in each of their spellings",
        arguments: [
            ("try await Task.sleep(for: delay)", [.sleep]),
            ("try await clock.sleep(until: then, tolerance: nil)", [.sleep]),
            ("try await clock\n    .sleep(for: delay)", [.sleep]),
            ("Thread.sleep(forTimeInterval: 1)", [.sleep]),
            ("usleep(100)", [.sleep]),
            ("Glibc.usleep(100)", [.sleep]),
            ("nanosleep(&time, nil)", [.sleep]),
            ("clock_nanosleep(0, 0, &time, nil)", [.sleep]),
            ("sleep(1)", [.sleep]),
            ("while true {\n    let outcome = await operation()\n    switch await decide(outcome) {}\n}", [.loop]),
            ("for attempt in 1... {\n    if true { try await clock.sleep(for: delay) }\n}", [.sleep, .loop]),
            ("repeat {\n    verdict = await decide(attempt, outcome)\n} while verdict", [.loop]),
            ("while items.contains(where: { $0 }) { await decide(attempt, outcome) }", [.loop]),
            ("for stage in stages { await next.load(request) }", [.next]),
        ] as [(String, Set<Finding.Kind>)]
    )
    func finds(text: String, kinds: Set<Finding.Kind>) {
        #expect(Set(Finding.all(in: SwiftSource(text)).map(\.kind)) == kinds)
    }

    @Test(
        "what only looks like one of them is left alone",
        arguments: [
            "func sleep(until deadline: Instant) async throws {}",
            "// Task.sleep(for: delay)",
            "let sleepers = 3",
            "let text = \"usleep(1)\"",
            "let text = #\"a \"quoted\" usleep(1)\"#",
            "let text = \"\\(count) usleep(1)\"",
            "/* usleep(1)\n usleep(1) */",
            "let text = \"\"\"\n    usleep(1)\n    \"\"\"",
            "case sleep(Duration)",
            "for header in headers { policy.decide(header) }",
            "for header in headers { print(header) }\nlet verdict = await decide(attempt, outcome)",
            "retry(for: .seconds(1)) { await decide(attempt, outcome) }",
            "await next.load(request)",
        ]
    )
    func leavesOthersAlone(text: String) {
        #expect(Finding.all(in: SwiftSource(text)).map(\.kind) == [])
    }
}

/// A place in a source file that waits or tries again.
struct Finding {
    enum Kind: String {
        case sleep = "a sleep outside of the engine"
        case loop = "a loop over attempts"
        case next = "a loop over `next.load`"
    }

    let kind: Kind
    let line: Int

    static func all(in source: SwiftSource) -> [Finding] {
        // Most files have none of these words, and are not read further.
        guard source.lines.contains(where: { line in ["sleep", "decide", "load"].contains { line.contains($0) } })
        else {
            return []
        }
        let tokens = tokens(of: source)
        var findings: [Finding] = []
        for (index, token) in tokens.enumerated() {
            if isSleep(at: index, in: tokens) { findings.append(Finding(kind: .sleep, line: token.line)) }
            guard ["for", "while", "repeat"].contains(token.text), !tokens.isMember(index),
                !tokens.has(":", at: index + 1)
            else { continue }
            let body = body(from: index + 1, in: tokens)
            if body.contains(where: { isSleep(at: $0, in: tokens) || isDecision(at: $0, in: tokens) }) {
                findings.append(Finding(kind: .loop, line: token.line))
            }
            if body.contains(where: { isForwarding(at: $0, in: tokens) }) {
                findings.append(Finding(kind: .next, line: token.line))
            }
        }
        return findings
    }

    private static let sleeps: Set<Substring> = ["sleep", "usleep", "nanosleep", "clock_nanosleep"]

    private static func isSleep(at index: Int, in tokens: [Token]) -> Bool {
        sleeps.contains(tokens[index].text) && tokens.has("(", at: index + 1)
            && !tokens.has("func", at: index - 1) && !tokens.has("case", at: index - 1)
    }

    private static func isDecision(at index: Int, in tokens: [Token]) -> Bool {
        tokens[index].text == "decide" && tokens.has("(", at: index + 1) && !tokens.isMember(index)
    }

    private static func isForwarding(at index: Int, in tokens: [Token]) -> Bool {
        tokens[index].text == "next" && tokens.has(".", at: index + 1) && tokens.has("load", at: index + 2)
            && tokens.has("(", at: index + 3)
    }

    /// The first block in braces; braces within parentheses belong to an argument.
    private static func body(from start: Int, in tokens: [Token]) -> Range<Int> {
        var parentheses = 0
        var braces = 0
        var first = start
        for index in start..<tokens.count {
            switch tokens[index].text {
            case "(" where braces == 0, "[" where braces == 0: parentheses += 1
            case ")" where braces == 0, "]" where braces == 0:
                parentheses -= 1
                if parentheses < 0 { return start..<start }
            case "{" where parentheses == 0:
                if braces == 0 { first = index }
                braces += 1
            case "}" where parentheses == 0:
                braces -= 1
                if braces <= 0 { return first..<index }
            default: break
            }
        }
        return start..<start
    }

    fileprivate struct Token {
        let text: Substring
        let line: Int
    }

    private static func tokens(of source: SwiftSource) -> [Token] {
        var tokens: [Token] = []
        for (index, line) in source.lines.enumerated() {
            var rest = line[...]
            while let first = rest.first {
                let isWord = isInWord(first)
                let text = isWord ? rest.prefix(while: isInWord) : rest.prefix(1)
                if !first.isWhitespace { tokens.append(Token(text: text, line: index + 1)) }
                rest = rest[text.endIndex...]
            }
        }
        return tokens
    }

    private static func isInWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}

extension [Finding.Token] {
    fileprivate func has(_ text: String, at index: Int) -> Bool { indices.contains(index) && self[index].text == text }

    /// Whether the token is the name of a member, which follows a dot.
    fileprivate func isMember(_ index: Int) -> Bool { has(".", at: index - 1) }
}
