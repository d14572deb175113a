internal import Refrain

/// A list of requests, one per line: a URL, or a JSON object; blank lines and lines that begin with `#` do not count.
enum URLList {
    /// Reads a list, all of it before anything is fetched; `-` is standard input.
    ///
    /// - Throws: ``UsageError``, which names the file and the line that is none.
    static func read(_ path: String) throws(UsageError) -> [ListedRequest] {
        guard !path.contains("://") || Input.isThere(path) else {
            throw UsageError(
                "--from \(Sanitized.text(path)): a list is a file; fetch it first, as by "
                    + "refrain get URL | refrain get --from -"
            )
        }
        do {
            return try parse(try Input(path: path).rest(), name: path == "-" ? "standard input" : path)
        } catch let error as UsageError {
            throw error
        } catch {
            throw UsageError("--from: \(error)")
        }
    }

    /// Reads the lines of a list.
    static func parse(_ bytes: [UInt8], name: String) throws(UsageError) -> [ListedRequest] {
        var requests: [ListedRequest] = []
        var number = 0
        var start = 0
        while start <= bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            number += 1
            if let request = try request(in: bytes[start..<end], number: number, of: name) { requests.append(request) }
            start = end + 1
        }
        return requests
    }

    /// The request in a line of a list; nil where the line does not count.
    ///
    /// - Throws: ``UsageError``, which names the list and the line.
    static func request(
        in line: ArraySlice<UInt8>,
        number: Int,
        of name: String
    ) throws(UsageError) -> ListedRequest? {
        // Some editors put a byte order mark in front of UTF-8. It belongs to no URL.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let line = trimmed(number == 1 && line.starts(with: mark) ? line.dropFirst(mark.count) : line)
        guard let first = line.first, first != UInt8(ascii: "#") else { return nil }
        let place = ListedRequest.Position.line(number, of: name)
        if first == UInt8(ascii: "{") { return try RequestLine.parse(Array(line), at: place) }
        guard let text = String(validating: line, as: UTF8.self) else { throw UsageError("\(place): is not UTF-8") }
        try check(text, "\(place)")
        return ListedRequest(url: text, place: place)
    }

    /// Refuses what is no URL that can be fetched.
    static func check(_ text: String, _ place: @autoclosure () -> String) throws(UsageError) {
        // Most are; to make a request of one takes ten times as long.
        if URLText.isPlain(text) { return }
        do throws(HTTPError) {
            _ = try HTTPRequest(text)
        } catch {
            if SanitizedURL.authorityStart(of: text) == nil, text.first.map({ $0.isNumber || $0 == "[" }) == true {
                throw UsageError("\(place()): \(Sanitized.text(text)) has no scheme; begin it with http:// or https://")
            }
            throw UsageError("\(place()): \(Sanitized.text(SanitizedURL.refused(text), limit: 200)) \(reason(error))")
        }
    }

    /// Why a text is refused, without the text itself, which stands in front, in quotation marks.
    private static func reason(_ error: HTTPError) -> String {
        let parts = (error.message ?? "").split(separator: "\" ", omittingEmptySubsequences: false)
        return parts.count > 1 ? parts.last.map(String.init) ?? "" : "is refused (\(error.code.rawValue))"
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) { line.removeLast() }
        return line
    }
}
