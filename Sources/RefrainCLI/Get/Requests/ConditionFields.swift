// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// Header fields that ask for a part of a body, or only for one that has changed.
enum ConditionFields {
    /// The fields that the options ask for.
    static func fields(_ arguments: Arguments) throws(UsageError) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if let range = arguments.last(.range) {
            guard !arguments.has(.continue) else { throw UsageError("--range and --continue exclude each other") }
            guard !arguments.has(.segments) else { throw UsageError("--range and --segments exclude each other") }
            guard range.contains("-"), range.allSatisfy({ $0.isWholeNumber && $0.isASCII || "-, ".contains($0) }) else {
                throw .badValue(range, of: "--range", "is not a range of bytes; write 0-499, 500- or -500")
            }
            fields.append(("Range", "bytes=\(range)"))
        }
        if let text = arguments.last(.timeCond), let date = date(text.hasPrefix("-") ? String(text.dropFirst()) : text)
        {
            fields.append((text.hasPrefix("-") ? "If-Unmodified-Since" : "If-Modified-Since", HTTPDate.format(date)))
        }
        if let path = arguments.last(.etagCompare) {
            let tag =
                Directory.kind(of: path) == .nothing
                ? "" : String(decoding: try Input.contents(path, "--etag-compare"), as: UTF8.self)
            let trimmed = tag.trimmedOfWhiteSpace
            // As curl does without a tag.
            fields.append(("If-None-Match", trimmed.isEmpty ? "\"\"" : trimmed))
        }
        return fields
    }

    /// A warning about options that have no effect.
    static func remark(_ arguments: Arguments) -> String? {
        guard let text = arguments.last(.timeCond),
            date(text.hasPrefix("-") ? String(text.dropFirst()) : text) == nil
        else { return nil }
        return "--time-cond: \(Sanitized.text(text)) is neither a file nor a date, such as "
            + "2026-11-22 10:30:00, so no condition is sent"
    }

    /// The date that a text names, or that of the last change of the file that it names.
    private static func date(_ text: String) -> WallClock.Instant? {
        CurlDate.parse(text) ?? day(text)
            ?? Directory.modificationTime(text).map { WallClock.Instant(sinceEpoch: .seconds($0)) }
    }

    /// A date of the form `2026-11-22`, `2026-11-22 10:30:00` or `2026-11-22T10:30:00Z`, in UTC.
    private static func day(_ text: String) -> WallClock.Instant? {
        let date = text.prefix(10).split(separator: "-", omittingEmptySubsequences: false)
        guard date.map(\.count) == [4, 2, 2], let month = ASCIINumber.whole(date[1]), (1...12).contains(month) else {
            return nil
        }
        var time = text.dropFirst(10)
        if time.hasPrefix(" ") || time.hasPrefix("T") { time.removeFirst() }
        if time.hasSuffix("Z") { time.removeLast() }
        // The name of the day need not be that of the date.
        let clock = time.isEmpty ? "00:00:00" : time
        return HTTPDate.parse("Sun, \(date[2]) \(months[month - 1]) \(date[0]) \(clock) GMT", now: .now)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
