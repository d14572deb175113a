// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Answers a stream of questions, one object per line, with one object per line.
struct Batch {
    private let decoder = JSONDecoder()

    /// Answers each line of an input, in order.
    ///
    /// - Throws: ``SystemError`` where the input cannot be read or the output cannot be written.
    func run(_ input: Input, to output: Output) throws(SystemError) {
        var splitter = LineBuffer()
        while let chunk = try input.next() {
            var answers: [UInt8] = []
            splitter.take(chunk) { answers += answer($0).line }
            // After each piece, so that answers to typed questions are shown at once.
            try output.write(answers)
        }
        var last: [UInt8] = []
        splitter.finish { last = answer($0).line }
        try output.write(last)
    }

    /// The answer to one line: a decision or an error.
    func answer(_ line: [UInt8]) -> JSON {
        func refuse(_ message: String) -> JSON { .object([("error", .string(message))]) }
        // The decoder would take UTF-16 and UTF-32 as well; lines are UTF-8.
        guard let first = line.first(where: { ![0x20, 0x09, 0x0D].contains($0) }) else {
            return refuse("the line is empty")
        }
        guard first == UInt8(ascii: "{") else { return refuse("the line is not a JSON object") }
        guard !line.contains(0), String(validating: line, as: UTF8.self) != nil else {
            return refuse("the line is not UTF-8 text")
        }
        do {
            return try decoder.decode(BatchLine.self, from: Data(line)).answer.json
        } catch let error as BatchRefusal {
            return refuse(error.description)
        } catch {
            return refuse("the line is not a valid JSON object")
        }
    }
}
