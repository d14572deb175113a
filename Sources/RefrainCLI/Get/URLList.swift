internal import Refrain

/// A list of URLs, one a line; blank lines and lines that begin with `#` do not count.
enum URLList {
    /// Reads a list, all of it before anything is fetched; `-` is standard input.
    ///
    /// - Throws: ``UsageError``, which names the file and the line that is none.
    static func read(_ path: String) throws(UsageError) -> [String] {
        do {
            return try parse(try Input(path: path).rest(), name: path == "-" ? "standard input" : path)
        } catch let error as UsageError {
            throw error
        } catch {
            throw UsageError("--from: \(error)")
        }
    }

    /// Reads the lines of a list.
    static func parse(_ bytes: [UInt8], name: String) throws(UsageError) -> [String] {
        var urls: [String] = []
        var number = 0
        // What some editors put in front of UTF-8 belongs to no URL.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        for raw in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let line = trimmed(raw)
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            let place = "\(name):\(number)"
            guard let text = String(validating: line, as: UTF8.self) else { throw UsageError("\(place): is not UTF-8") }
            try check(text, place)
            urls.append(text)
        }
        return urls
    }

    /// Refuses what is no URL that can be fetched.
    static func check(_ text: String, _ place: String) throws(UsageError) {
        do throws(HTTPError) {
            _ = try HTTPRequest(text)
        } catch {
            throw UsageError("\(place): \(Shown.text(ShownURL.refused(text), limit: 200)) \(reason(error))")
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
