// SPDX-License-Identifier: Apache-2.0
internal import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The URL of a request as it is sent, and the parts of it that the loop needs.
struct TargetURL {
    let text: String
    let isTLS: Bool
    /// Whether the authority is a host name or address in ASCII, with or without a port, and nothing else.
    let namesPlainHost: Bool
    /// The end of the scheme and authority.
    private let originEnd: Int

    /// - Parameter endOfOrigin: the result of validating the request; nil if its URL must be escaped first.
    init(_ request: HTTPRequest, endOfOrigin: Int?) {
        let text = endOfOrigin == nil ? URLText.sent(request.url) : request.url.absoluteString
        self.text = text
        namesPlainHost = endOfOrigin != nil
        (isTLS, originEnd) = text.withUTF8Bytes {
            ($0.count > 4 && $0[4] | 0x20 == UInt8(ascii: "s"), endOfOrigin ?? Self.originEnd(in: $0))
        }
    }

    private static func originEnd(in url: UnsafeBufferPointer<UInt8>) -> Int {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), colon + 3 < url.count else { return url.count }
        let end = url[(colon + 3)...].firstIndex {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
        return end ?? url.count
    }

    /// The scheme and authority.
    var origin: String { text.withUTF8Bytes { String(decoding: $0[..<originEnd], as: UTF8.self) } }

    /// Whether it has this scheme and authority.
    func hasOrigin(_ origin: String) -> Bool {
        guard origin.utf8.count == originEnd else { return false }
        return text.withUTF8Bytes { url in
            origin.withUTF8Bytes { origin in
                guard let start = url.baseAddress, let named = origin.baseAddress else { return originEnd == 0 }
                return memcmp(start, named, originEnd) == 0
            }
        }
    }

    /// The name of the host; nil if it is an IPv6 address.
    var hostName: String? {
        let authority = origin.drop { $0 != "/" }.dropFirst(2)
        let start = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        let host = authority[start...]
        return host.first == "[" ? nil : String(host.prefix { $0 != ":" })
    }
}

extension String {
    fileprivate func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }
}
