import Testing

/// `withRetry` is the only code that tries again: everything else decides.
@Suite("One loop")
struct OneLoopTests {
    static let engine = "RefrainCore/Engine/"

    /// Where a sleep may be called.
    static let sleepers = [
        // The engine sleeps between tries.
        engine,
        // The timer itself, which wakes the waiters.
        "RefrainCore/Time/",
        // A server that is slow on command is not a client that tries again.
        "RefrainTesting/Server/",
        // Clocks for tests are slept on, they do not try again.
        "RefrainTesting/Clock/",
        "RefrainTesting/Mock/",
        // A delay that is a fault, before the request is forwarded once.
        "RefrainTesting/Chaos/Chaos.swift",
        // A stub that is slow on command.
        "RefrainAlamofire/Moya/MoyaProvider.swift",
        // One wait before a request is made: nothing is tried again after it.
        "RefrainCLI/Get/StartPacer.swift",
        // A redirect may ask for a wait before its target is requested, which is a hop and not an attempt.
        "RefrainHTTP/Redirect/Redirect.swift",
        // One wait beside a piece of work, to end the work: nothing is tried again after it.
        "RefrainHTTP/Timeout/HTTPRequest+withTimeout.swift",
    ]

    /// Stages that call the rest of the chain in a loop which is no retry.
    static let followers = [
        // Each round is another request: a redirect's target.
        "RefrainHTTP/Redirect/Redirect.swift"
    ]

    @Test("nothing sleeps but the engine, the timer and the server that is slow on command")
    func nothingElseSleeps() throws {
        let violations = try SourceTree().files
            .filter { file in !Self.sleepers.contains { file.path.hasPrefix($0) } }
            .flatMap { file in
                Self.sleeps(in: file.source).map { "Sources/\(file.path):\($0): sleeps outside the engine" }
            }
        #expect(violations == [])
    }

    @Test("one file holds the loop over tries, and it is the engine's")
    func oneFileLoops() throws {
        let files = try SourceTree().files
        let loops = files.filter { !Self.retryLoops(in: $0.source).isEmpty }.map(\.path)
        if files.contains(where: { $0.path.hasPrefix(Self.engine) }) {
            #expect(loops.count == 1, "expected one file with a retry loop, found \(loops)")
        }
        #expect(loops.filter { !$0.hasPrefix(Self.engine) } == [])
    }

    @Test("no stage calls the rest of the chain in a loop")
    func stagesDoNotLoop() throws {
        let violations = try SourceTree().files
            .filter { !Self.followers.contains($0.path) }
            .flatMap { file in
                file.source.loopBodies
                    .filter { $0.body.contains(SwiftSource.word(/\bnext\s*\.\s*load\s*\(/)) }
                    .map { "Sources/\(file.path):\($0.line): a loop over `next.load`" }
            }
        #expect(violations == [])
    }

    @Test(
        "a sleep is found in each of its spellings",
        arguments: [
            "try await Task.sleep(for: delay)", "try await clock.sleep(until: then, tolerance: nil)",
            "try await clock\n    .sleep(for: delay)", "Thread.sleep(forTimeInterval: 1)", "usleep(100)",
            "Glibc.usleep(100)", "nanosleep(&time, nil)", "clock_nanosleep(0, 0, &time, nil)", "sleep(1)",
        ]
    )
    func findsSleeps(text: String) {
        #expect(Self.sleeps(in: SwiftSource(text)).count == 1)
    }

    @Test(
        "what only speaks of sleep is left alone",
        arguments: [
            "func sleep(until deadline: Instant) async throws {}", "// Task.sleep(for: delay)", "let sleepers = 3",
            "let text = \"usleep(1)\"", "case sleep(Duration)",
        ]
    )
    func leavesOthersAlone(text: String) {
        #expect(Self.sleeps(in: SwiftSource(text)) == [])
    }

    @Test(
        "a loop over tries is found in each of its forms",
        arguments: [
            "while true {\n    let outcome = await operation(attempt)\n    switch await decide(attempt, outcome) {}\n}",
            "for attempt in 1... {\n    if true { try await clock.sleep(for: delay) }\n}",
            "repeat {\n    verdict = await decide(attempt, outcome)\n} while verdict",
            "while items.contains(where: { $0 }) { await decide(attempt, outcome) }",
        ]
    )
    func findsLoops(text: String) {
        #expect(Self.retryLoops(in: SwiftSource(text)).count == 1)
    }

    @Test(
        "a loop that does not try again is left alone",
        arguments: [
            "for header in headers { policy.decide(header) }",
            "for header in headers { print(header) }\nlet verdict = await decide(attempt, outcome)",
            "retry(for: .seconds(1)) { await decide(attempt, outcome) }",
        ]
    )
    func leavesOtherLoopsAlone(text: String) {
        #expect(Self.retryLoops(in: SwiftSource(text)).isEmpty)
    }

    /// The lines that call a sleep.
    static func sleeps(in source: SwiftSource) -> [Int] {
        source.lines.enumerated().compactMap { index, line in
            let calls = line.contains(SwiftSource.word(/\b(?:u|nano|clock_nano)?sleep\s*\(/))
            let declares = line.contains(SwiftSource.word(/\b(?:func|case)\s+\w*sleep\s*\(/))
            return calls && !declares ? index + 1 : nil
        }
    }

    /// The lines where a loop begins whose body asks `decide`, the engine's closure, or sleeps.
    static func retryLoops(in source: SwiftSource) -> [Int] {
        source.loopBodies
            .filter { $0.body.contains(/(?:^|[^.\w])decide\s*\(/) || !sleeps(in: SwiftSource($0.body)).isEmpty }
            .map(\.line)
    }
}
