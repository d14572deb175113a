// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RefrainCLI

/// Questions and answers, written by hand from the rules.
@Suite("refrain explain --batch")
struct BatchTests {
    /// A question, and the beginning of its answer that the rules demand.
    struct Vector: Sendable, CustomTestStringConvertible {
        let rule: String
        let question: String
        let decision: String
        var rules: [Int] = []
        var delay: ClosedRange<Double>?
        var retryAfterDate: Double?

        var testDescription: String { "\(rule): \(question)" }
    }

    private func answer(_ line: String) -> String { Batch().answer(Array(line.utf8)).text }

    @Test("each question is answered as the rules say", arguments: Vector.all)
    func answers(vector: Vector) throws {
        let answer = answer(vector.question)
        #expect(answer.hasPrefix("{\"decision\":\"\(vector.decision)\","), "\(answer)")
        let names = Self.rules(of: answer)
        for number in vector.rules { #expect(names.contains("R\(number)"), "\(answer)") }
        if let delay = vector.delay {
            #expect(
                answer.contains("\"delay_min\":\(delay.lowerBound),\"delay_max\":\(delay.upperBound),"),
                "\(answer)"
            )
        } else if vector.decision != "retry" {
            #expect(answer.contains("\"delay_min\":null,\"delay_max\":null,"), "\(answer)")
        }
        if let date = vector.retryAfterDate {
            #expect(answer.hasSuffix("\"come_back_at\":\(date)}"), "\(answer)")
        } else {
            #expect(answer.hasSuffix("\"come_back_at\":null}"), "\(answer)")
        }
    }

    /// The names in the list of rules.
    private static func rules(of answer: String) -> [String] {
        guard let list = answer.firstRange(of: "\"rules\":[") else { return [] }
        return answer[list.upperBound...].prefix { $0 != "]" }.split(separator: ",").map { $0.filter { $0 != "\"" } }
    }

    @Test(
        "a line that is no question is answered with an error that names the culprit",
        arguments: [
            ("", "empty"), ("   ", "empty"), ("[]", "object"), ("null", "object"), ("{", "JSON"), ("{}", "method"),
            (#"{"method":"GET"}"#, "status"), (#"{"status":503}"#, "method"),
            (#"{"method":"GET","status":503,"error":"timedOut"}"#, "exclude"),
            (#"{"method":"","status":503}"#, "method"), (#"{"method":"G T","status":503}"#, "method"),
            (#"{"method":3,"status":503}"#, "method"), (#"{"method":"GET","status":"503"}"#, "status"),
            (#"{"method":"GET","status":99}"#, "status"), (#"{"method":"GET","status":1000}"#, "status"),
            (#"{"method":"GET","status":-503}"#, "status"), (#"{"method":"GET","status":503.5}"#, "status"),
            (#"{"method":"GET","status":true}"#, "status"), (#"{"method":"GET","status":1e400}"#, "status"),
            (#"{"method":"GET","error":"timeOut"}"#, "timedOut"), (#"{"method":"GET","error":"nonsense"}"#, "error"),
            (#"{"method":"GET","status":503,"attempt":0}"#, "attempt"),
            (#"{"method":"GET","status":503,"attempt":-1}"#, "attempt"),
            (#"{"method":"GET","status":503,"attempt":99999999999999999999}"#, "attempt"),
            (#"{"method":"GET","status":503,"attempt":"2"}"#, "attempt"),
            (#"{"method":"GET","status":503,"headers":{"a":"b"}}"#, "headers"),
            (#"{"method":"GET","status":503,"headers":[["a"]]}"#, "headers"),
            (#"{"method":"GET","status":503,"headers":[["a","b","c"]]}"#, "headers"),
            (#"{"method":"GET","status":503,"headers":[["a",1]]}"#, "headers"),
            (#"{"method":"GET","status":503,"headers":"Retry-After: 7"}"#, "headers"),
            (#"{"method":"GET","status":503,"body":"twice"}"#, "body"),
            (#"{"method":"GET","status":503,"replay":"maybe"}"#, "replay"),
            (#"{"method":"GET","status":503,"policy":"default"}"#, "policy"),
            (#"{"method":"GET","status":503,"bytes_sent":-1}"#, "bytes_sent"),
            (#"{"method":"GET","status":503,"now":1e300}"#, "now"),
            (#"{"method":"GET","status":503,"now":"x"}"#, "now"),
            (#"{"method":"GET","status":503,"deadline":-1}"#, "deadline"),
            (#"{"method":"GET","status":503,"elapsed":-1}"#, "elapsed"),
            (#"{"method":"GET","status":503,"deadline":1e999}"#, "deadline"),
            (#"{"method":"GET","status":503,"idempotency_key":3}"#, "idempotency_key"),
            (#"{"method":"GET","status":503} {}"#, "JSON"),
            ("{\"method\":\"GET\",\"status\":503,\"x\":\"\u{0}\"}", "UTF-8"),
        ]
    )
    func errors(line: String, culprit: String) {
        let answer = answer(line)
        #expect(answer.hasPrefix("{\"error\":\"") && answer.contains(culprit), "\(answer)")
    }

    @Test("bytes that are not UTF-8, and other encodings, are answered with an error")
    func encodings() {
        for line: [UInt8] in [[0xFF, 0xFE, 0x7B, 0], [0x7B, 0x22, 0xC3, 0x28, 0x22, 0x7D], [0x7B, 0, 0x7D, 0]] {
            #expect(Batch().answer(line).text.hasPrefix("{\"error\":"))
        }
    }

    @Test("depth, length and size beyond all reason are answered and do not trap")
    func extremes() {
        #expect(answer(String(repeating: "{\"a\":", count: 100_000)).hasPrefix("{\"error\":"))
        #expect(
            answer(#"{"method":"GET","status":503,"x":"# + String(repeating: "[", count: 100_000)).hasPrefix(
                "{\"error\":"
            )
        )
        let digits = String(repeating: "9", count: 100_000)
        #expect(answer(#"{"method":"GET","status":\#(digits)}"#).hasPrefix("{\"error\":"))
        let long = answer(#"{"method":"GET","status":503,"headers":[["Retry-After","\#(digits)"]]}"#)
        #expect(long.hasPrefix("{\"decision\":\"come_back\""))
        let last = #"{"method":"GET","status":503,"attempt":9223372036854775807,"deadline":1e308,"elapsed":1e308}"#
        #expect(answer(last).hasPrefix("{\"decision\":\"finish\""))
    }

    @Test("null counts as missing, members of other names are ignored")
    func nulls() {
        let plain = answer(#"{"method":"GET","status":503}"#)
        let nulls = #"{"method":"GET","status":503,"error":null,"headers":null,"body":null,"deadline":null,"note":[1]}"#
        #expect(answer(nulls) == plain)
    }

    @Test("10,000 damaged questions are answered, and never trap", .computing)
    func damaged() {
        let seed = UInt64(0x5EED)
        var generator = Seeded(seed)
        let batch = Batch()
        for _ in 0..<10_000 {
            var line = Array((Vector.all.randomElement(using: &generator)?.question ?? "").utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) where !line.isEmpty {
                let index = line.indices.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0...2, using: &generator) {
                case 0: line[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: line.remove(at: index)
                default: line.insert(Array("\"0-9e.{}[],:".utf8).randomElement(using: &generator) ?? 0, at: index)
                }
            }
            let answer = batch.answer(line).text
            #expect(answer.hasPrefix("{\"decision\":") || answer.hasPrefix("{\"error\":"), "seed \(seed)")
        }
    }

    @Test("lines are cut out of pieces of any size, and the last one needs no line feed")
    func lines() {
        let text = Array("one\n\ntwo\r\nthree".utf8)
        for size in 1...text.count {
            var splitter = LineBuffer()
            var lines: [String] = []
            for start in stride(from: 0, to: text.count, by: size) {
                splitter.take(Array(text[start..<min(start + size, text.count)])) {
                    lines.append(String(decoding: $0, as: UTF8.self))
                }
            }
            splitter.finish { lines.append(String(decoding: $0, as: UTF8.self)) }
            #expect(lines == ["one", "", "two\r", "three"])
        }
    }
}
