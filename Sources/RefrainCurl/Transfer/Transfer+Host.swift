#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Transfer {
    /// Returns the end of a URL's scheme and authority.
    static func hostEnd(in url: UnsafeBufferPointer<UInt8>) -> Int {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), colon + 3 < url.count else { return url.count }
        return url[(colon + 3)...].firstIndex {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
            ?? url.count
    }

    /// The scheme and authority of the URL.
    var hostName: String { url.withUTF8Bytes { String(decoding: $0[..<hostEnd], as: UTF8.self) } }

    /// The name of the host, if it is the URL's own name that libcurl has looked up.
    var nameToLookUp: String? {
        guard let handle, !handle.settings.connectsElsewhere else { return nil }
        let authority = hostName.drop { $0 != "/" }.dropFirst(2)
        let host = authority[
            (authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex)...
        ]
        guard host.first != "[" else { return nil }
        return String(host.prefix { $0 != ":" })
    }

    /// Whether the URL has this scheme and authority.
    func goes(to name: String) -> Bool {
        guard name.utf8.count == hostEnd else { return false }
        return url.withUTF8Bytes { url in
            name.withUTF8Bytes { name in
                guard let start = url.baseAddress, let named = name.baseAddress else { return hostEnd == 0 }
                return memcmp(start, named, hostEnd) == 0
            }
        }
    }
}

extension String {
    func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }
}
