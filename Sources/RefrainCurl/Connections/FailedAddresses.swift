// SPDX-License-Identifier: Apache-2.0
internal import CurlShim

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// An address and a port that a connection is made to.
struct AddressKey: Hashable {
    /// Whether it is an IPv6 address.
    let isIPv6: Bool
    private let high: UInt64
    private let low: UInt64

    /// Returns the address alone, in network byte order: 4 bytes of IPv4, or 16 of IPv6.
    static func bytes(of address: UnsafePointer<curl_sockaddr>) -> [UInt8] {
        let bytes = UnsafeRawBufferPointer(start: refrain_address_bytes(address), count: Int(address.pointee.addrlen))
        let range = address.pointee.family == AF_INET6 ? 8..<24 : 4..<8
        let isKnown = address.pointee.family == AF_INET6 || address.pointee.family == AF_INET
        return isKnown && bytes.count >= range.upperBound ? Array(bytes[range]) : []
    }

    init(_ address: UnsafePointer<curl_sockaddr>) {
        // The structure ends with an address of any family, in network byte order.
        let bytes = UnsafeRawBufferPointer(start: refrain_address_bytes(address), count: Int(address.pointee.addrlen))
        isIPv6 = address.pointee.family == AF_INET6
        func number(at start: Int, _ count: Int) -> UInt64 {
            bytes.count < start + count ? 0 : bytes[start..<start + count].reduce(0) { $0 << 8 | UInt64($1) }
        }
        if isIPv6 {
            high = number(at: 8, 8)
            low = number(at: 16, 8) ^ number(at: 2, 2) << 48
        } else {
            high = number(at: 2, 2)
            low = number(at: 4, 4)
        }
    }
}

/// The addresses to which no connection could be made recently; they are tried after all others (rule R33).
struct FailedAddresses {
    private var failures: [AddressKey: MonotonicTime] = [:]

    /// How long a failure counts, in nanoseconds: a host that was unreachable for longer may have recovered.
    private static let memory: Int64 = 300_000_000_000
    private static let capacity = 1024

    var isEmpty: Bool { failures.isEmpty }

    /// Whether a connection to the address failed recently.
    func contains(_ address: AddressKey, now: MonotonicTime) -> Bool {
        guard let failure = failures[address] else { return false }
        return now &- failure < Self.memory
    }

    /// Records a failure.
    mutating func note(_ address: AddressKey, now: MonotonicTime) {
        if failures.count >= Self.capacity { failures = failures.filter { now &- $0.value < Self.memory } }
        if failures.count >= Self.capacity { failures = [:] }
        failures[address] = now
    }

    /// Removes an address to which a connection was made.
    mutating func forget(_ address: AddressKey) {
        guard !failures.isEmpty else { return }
        failures[address] = nil
    }
}
