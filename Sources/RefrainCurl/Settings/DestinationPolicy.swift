// SPDX-License-Identifier: Apache-2.0
public import RefrainCore

extension CurlLoader {
    /// The addresses to which a transport may connect, as protection against server-side request forgery.
    ///
    /// ```swift
    /// var configuration = CurlLoader.Configuration()
    /// configuration.destinations = .publicOnly
    /// ```
    ///
    /// Each address is checked immediately before the connection is made, after the name was resolved: also for
    /// redirects, and for a name that resolves to another address than before. A request to a refused address fails
    /// with ``/RefrainHTTP/HTTPError/Code/destinationRefused``; if a name has several addresses, the others are tried.
    /// Defaults to ``any``.
    public struct DestinationPolicy: Hashable, Sendable {
        private let isPublicOnly: Bool
        private let allowed: [AddressRange]

        private init(isPublicOnly: Bool, allowed: [AddressRange]) {
            self.isPublicOnly = isPublicOnly
            self.allowed = allowed
        }

        /// All addresses.
        public static let any = DestinationPolicy(isPublicOnly: false, allowed: [])

        /// Addresses that are globally reachable, by the registries of RFC 6890.
        ///
        /// Refuses private, loopback, link-local, shared, documentation, benchmarking, multicast and reserved
        /// addresses, also if embedded in an IPv6 address: IPv4-mapped, NAT64, 6to4, Teredo and ISATAP.
        public static let publicOnly = DestinationPolicy(isPublicOnly: true, allowed: [])

        /// As ``publicOnly``, and also the addresses in these ranges, such as `10.1.0.0/16` or `fd00::/8`.
        ///
        /// - Throws: `InvalidArgument` for a text that is not a range of addresses.
        public static func publicOnly(and ranges: [String]) throws(InvalidArgument) -> DestinationPolicy {
            var allowed: [AddressRange] = []
            for text in ranges {
                guard let range = AddressRange(text) else {
                    throw InvalidArgument("ranges", is: text, expected: "an address, or a range such as 10.1.0.0/16")
                }
                allowed.append(range)
            }
            return DestinationPolicy(isPublicOnly: true, allowed: allowed)
        }

        /// Whether every address is allowed.
        var allowsAll: Bool { !isPublicOnly }

        /// Whether a connection to an IPv4 address (4 bytes) or IPv6 address (16 bytes, in network order) is allowed.
        func allows(_ address: [UInt8]) -> Bool {
            guard isPublicOnly else { return true }
            if allowed.contains(where: { $0.contains(address) }) { return true }
            switch address.count {
            case 4: return Self.isPublic(v4: address)
            case 16: return isPublic(v6: address)
            default: return false
            }
        }

        private static func isPublic(v4 address: [UInt8]) -> Bool {
            !AddressRange.specialV4.contains { $0.contains(address) }
        }

        private func isPublic(v6 address: [UInt8]) -> Bool {
            // An embedded IPv4 address is checked instead.
            if AddressRange.mapped.contains(address) || AddressRange.nat64.contains(address) {
                return allows(Array(address[12...]))
            }
            if AddressRange.sixToFour.contains(address), !allows(Array(address[2..<6])) { return false }
            // ISATAP (RFC 5214 §6.1)
            if address[9..<12].elementsEqual([0, 0x5E, 0xFE]), address[8] & 0xFC == 0, !allows(Array(address[12...])) {
                return false
            }
            return AddressRange.globalV6.contains(address) && !AddressRange.specialV6.contains { $0.contains(address) }
        }
    }
}

/// A range of addresses with the same first bits.
struct AddressRange: Hashable, Sendable {
    private let prefix: [UInt8]
    private let length: Int

    /// Parses `ADDRESS/BITS`, or a single address; returns nil for other texts.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = Self.bytes(of: String(first)) else { return nil }
        prefix = address
        guard parts.count == 2 else {
            length = address.count * 8
            return
        }
        guard let bits = Int(parts[1]), (0...address.count * 8).contains(bits) else { return nil }
        length = bits
    }

    private init(_ prefix: [UInt8], _ length: Int, size: Int) {
        self.prefix = prefix + [UInt8](repeating: 0, count: size - prefix.count)
        self.length = length
    }

    /// Whether an address of the same family begins with the same bits.
    func contains(_ address: [UInt8]) -> Bool {
        guard address.count == prefix.count else { return false }
        for index in 0..<(length + 7) / 8 {
            let kept = min(8, length - index * 8)
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> kept)
            guard (address[index] ^ prefix[index]) & mask == 0 else { return false }
        }
        return true
    }

    private static func v4(_ prefix: [UInt8], _ length: Int) -> AddressRange { AddressRange(prefix, length, size: 4) }
    private static func v6(_ prefix: [UInt8], _ length: Int) -> AddressRange { AddressRange(prefix, length, size: 16) }

    /// The IANA registry of special-purpose addresses of IPv4 (RFC 6890), and multicast (RFC 5771).
    static let specialV4: [AddressRange] = [
        v4([0], 8), v4([10], 8), v4([100, 64], 10), v4([127], 8), v4([169, 254], 16), v4([172, 16], 12),
        v4([192, 0, 0], 24), v4([192, 0, 2], 24), v4([192, 31, 196], 24), v4([192, 52, 193], 24),
        v4([192, 88, 99], 24),
        v4([192, 168], 16), v4([192, 175, 48], 24), v4([198, 18], 15), v4([198, 51, 100], 24), v4([203, 0, 113], 24),
        v4([224], 4), v4([240], 4),
    ]

    /// The ranges of global IPv6 with a special purpose (RFC 6890, and later entries of its registry).
    static let specialV6: [AddressRange] = [
        // IETF protocol assignments, including Teredo, ORCHID and benchmarking.
        v6([0x20, 0x01], 23), v6([0x20, 0x01, 0x0D, 0xB8], 32), v6([0x26, 0x20, 0, 0x4F, 0x80], 48),
        v6([0x3F, 0xFF], 20),
    ]

    /// All globally routed addresses; unique local, link-local, multicast and all others are outside of it.
    static let globalV6 = v6([0x20], 3)
    static let mapped = v6([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96)
    static let nat64 = v6([0, 0x64, 0xFF, 0x9B], 96)
    static let sixToFour = v6([0x20, 0x02], 16)

    /// Returns the bytes of an address, or nil for other texts.
    static func bytes(of text: String) -> [UInt8]? {
        text.utf8.contains(UInt8(ascii: ":")) ? v6Bytes(of: text) : v4Bytes(of: text)
    }

    private static func v4Bytes(of text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { $0.utf8.allSatisfy { (48...57).contains($0) } ? UInt8($0) : nil }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    private static func v6Bytes(of text: String) -> [UInt8]? {
        let halves = text.split(separator: "::", omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return nil }
        var groups: [[UInt8]] = []
        for half in halves {
            guard !half.isEmpty else {
                groups.append([])
                continue
            }
            var bytes: [UInt8] = []
            let parts = half.split(separator: ":", omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() {
                if index == parts.count - 1, part.contains("."), let v4 = v4Bytes(of: String(part)) {
                    bytes += v4
                } else {
                    guard (1...4).contains(part.utf8.count), let group = UInt16(part, radix: 16) else { return nil }
                    bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
                }
            }
            groups.append(bytes)
        }
        let count = groups.reduce(0) { $0 + $1.count }
        guard halves.count == 2 else { return count == 16 ? groups[0] : nil }
        guard count <= 14 else { return nil }
        return groups[0] + [UInt8](repeating: 0, count: 16 - count) + groups[1]
    }
}
