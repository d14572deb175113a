// SPDX-License-Identifier: Apache-2.0
extension CookieJar.Cookie {
    /// Parses a value of `Set-Cookie` (RFC 6265 §5.2, §5.3); nil if it is none, or if the source may not set it.
    init?(setCookie field: String, from source: CookieTarget, now: WallClock.Instant) {
        // A control character would end the field of a request, or the line of a file. A tab may stand where a space
        // may (RFC 6265bis §5.6).
        guard field.utf8.count <= 4 * CookieJar.limits.bytes,
            !field.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F })
        else { return nil }
        // By bytes: a combining mark makes one character with the separator or the space before it.
        let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        self.init(
            name: Self.trimmed(pair[..<equals]),
            value: Self.trimmed(pair[pair.index(after: equals)...]),
            domain: source.host,
            path: source.defaultPath
        )
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= CookieJar.limits.bytes else { return nil }
        var attributes = Attributes()
        for part in parts.dropFirst() { attributes.read(part, now) }
        isSecure = attributes.isSecure
        isHTTPOnly = attributes.isHTTPOnly
        expires = attributes.maxAge ?? attributes.expires
        if let path = attributes.path { self.path = path }
        if let domain = attributes.domain, !apply(domain, source) { return nil }
        // Within a part, a tab would end a field of the file's line.
        guard ![name, value, self.path].contains(where: { $0.utf8.contains(0x09) }) else { return nil }
        guard isAllowed(by: source, hasPath: attributes.path != nil) else { return nil }
    }

    /// Applies the attribute `Domain`; returns whether the source may set it.
    private mutating func apply(_ domain: String, _ source: CookieTarget) -> Bool {
        guard source.isWithin(domain) else { return false }
        // Of a public suffix, only the host of that name may set a cookie, and for itself.
        guard !PublicSuffix.contains(domain) else { return source.host == domain }
        self.domain = domain
        includesSubdomains = !source.isAddress
        return true
    }

    /// Whether the marks on a cookie hold for its source (RFC 6265bis §4.1.3, §5.7).
    private func isAllowed(by source: CookieTarget, hasPath: Bool) -> Bool {
        guard !isSecure || source.isSecure else { return false }
        let name = name.lowercased()
        if name.hasPrefix("__secure-") { return isSecure }
        if name.hasPrefix("__host-") { return isSecure && !includesSubdomains && hasPath && path == "/" }
        return true
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String { String(Substring(FieldValues.trimmed(text))) }

    private struct Attributes {
        var domain: String?
        var path: String?
        var maxAge: WallClock.Instant?
        var expires: WallClock.Instant?
        var isSecure = false
        var isHTTPOnly = false

        /// Reads one attribute; of several with one name, the last one counts.
        mutating func read(_ text: Substring.UTF8View, _ now: WallClock.Instant) {
            let pair = text.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = pair.count > 1 ? trimmed(pair[1]) : ""
            // What is longer does not count (RFC 6265bis §5.6).
            guard value.utf8.count <= 1024 else { return }
            switch pair.first.map({ trimmed($0) })?.lowercased() {
            case "domain":
                let name = value.hasPrefix(".") ? String(value.dropFirst()) : value
                domain = name.isEmpty ? nil : HostName.ascii(name) ?? name.lowercased()
            case "path": path = value.hasPrefix("/") ? value : nil
            case "max-age": maxAge = Self.instant(maxAge: value, now) ?? maxAge
            case "expires": expires = CookieDate.parse(value) ?? expires
            case "secure": isSecure = true
            case "httponly": isHTTPOnly = true
            default: break
            }
        }

        /// The instant that an age ends at, at most in the year 9999 later; nil for what is not a number.
        private static func instant(maxAge text: String, _ now: WallClock.Instant) -> WallClock.Instant? {
            let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            guard !text.hasPrefix("-"), digits.contains(where: { $0 != "0" }) else { return .distantPast }
            let seconds = min(Int64(digits) ?? .max, CivilTime.writable.upperBound)
            return now.advanced(by: .seconds(seconds))
        }
    }
}

extension WallClock.Instant {
    /// A second after the epoch: before any present, and not zero, which a file takes for no expiry.
    fileprivate static let distantPast = WallClock.Instant(sinceEpoch: .seconds(1))
}

/// The dates of `Expires`, which servers spell in many ways (RFC 6265 §5.1.1).
private enum CookieDate {
    /// Parses a date; returns nil if it has no day, month, year or time.
    static func parse(_ text: String) -> WallClock.Instant? {
        var found = Found()
        for token in text.utf8.prefix(256).split(whereSeparator: isDelimiter) { found.read(Array(token)) }
        guard let time = found.time, let day = found.day, let month = found.month, let year = found.year, year >= 1601
        else { return nil }
        let civil = CivilTime(year: year, month: month, day: day, hour: time.0, minute: time.1, second: time.2)
        guard time.2 < 60, let seconds = civil.secondsSinceEpoch else { return nil }
        return WallClock.Instant(sinceEpoch: .seconds(max(1, seconds)))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private struct Found {
        var time: (Int, Int, Int)?
        var day: Int?
        var month: Int?
        var year: Int?

        mutating func read(_ token: [UInt8]) {
            if time == nil, let found = Self.time(token) {
                time = found
            } else if day == nil, let found = Self.number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = Self.number(token, digits: 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }

        /// A number at the beginning of a token, with this many digits.
        private static func number(_ token: [UInt8], digits: ClosedRange<Int>) -> Int? {
            let found = token.prefix { (0x30...0x39).contains($0) }
            guard digits.contains(found.count) else { return nil }
            return found.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        private static func time(_ token: [UInt8]) -> (Int, Int, Int)? {
            let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            let numbers = parts.compactMap { number(Array($0), digits: 1...2) }
            // Only the last part may have something after its digits.
            guard numbers.count == 3, parts[0].allSatisfy(\.isDigit), parts[1].allSatisfy(\.isDigit) else { return nil }
            return (numbers[0], numbers[1], numbers[2])
        }

        private static func month(_ token: [UInt8]) -> Int? {
            let name = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
            let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
            return names.firstIndex(of: name).map { $0 + 1 }
        }
    }
}
