// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import Testing

@testable import RefrainCurl

@Suite("Where connections may be made to")
struct DestinationPolicyTests {
    private func allows(_ address: String, _ policy: CurlLoader.DestinationPolicy = .publicOnly) throws
        -> Bool
    {
        policy.allows(try #require(AddressRange.bytes(of: address), "\(address)"))
    }

    @Test(
        "R31: the first and the last address of each special range of IPv4 are refused (RFC 6890)",
        arguments: [
            ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"), ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"), ("169.254.0.0", "169.254.255.255"), ("172.16.0.0", "172.31.255.255"),
            ("192.0.0.0", "192.0.0.255"), ("192.0.2.0", "192.0.2.255"), ("192.31.196.0", "192.31.196.255"),
            ("192.52.193.0", "192.52.193.255"), ("192.88.99.0", "192.88.99.255"), ("192.168.0.0", "192.168.255.255"),
            ("192.175.48.0", "192.175.48.255"), ("198.18.0.0", "198.19.255.255"), ("198.51.100.0", "198.51.100.255"),
            ("203.0.113.0", "203.0.113.255"), ("224.0.0.0", "239.255.255.255"), ("240.0.0.0", "255.255.255.255"),
        ]
    )
    func specialV4(first: String, last: String) throws {
        for address in [first, last] {
            #expect(try !allows(address))
            // The same in the forms of IPv6 that carry it.
            let bytes = try #require(AddressRange.bytes(of: address))
            let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            let groups = "\(hex[0])\(hex[1]):\(hex[2])\(hex[3])"
            for form in [
                "::ffff:\(address)", "::\(address)", "64:ff9b::\(address)", "2002:\(groups)::1",
                "2600:1:2:3:0:5efe:\(groups)", "2600:1:2:3:200:5efe:\(groups)",
            ] {
                #expect(try !allows(form), "\(form)")
            }
        }
    }

    @Test(
        "R31: the first and the last address of each special range of IPv6 are refused",
        arguments: [
            ("::", "::"), ("::1", "::1"), ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
            ("100::", "100::ffff:ffff:ffff:ffff"), ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"), ("2620:4f:8000::", "2620:4f:8000:ffff::"),
            ("3fff::", "3fff:fff:ffff::"), ("5f00::", "5f00:ffff::"), ("fc00::", "fdff:ffff::"),
            ("fe80::", "febf:ffff::"), ("fec0::", "feff::"), ("ff00::", "ffff:ffff::"), ("4000::", "efff::"),
        ]
    )
    func specialV6(first: String, last: String) throws {
        for address in [first, last] { #expect(try !allows(address), "\(address)") }
    }

    @Test(
        "addresses beside the special ranges, and public ones in the forms of IPv6, are allowed",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
            "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "198.17.255.255", "198.20.0.0",
            "223.255.255.255", "2000::1", "2001:200::1", "2606:4700:4700::1111", "2a00::1", "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1", "2002:101:101::1",
        ]
    )
    func publicAddresses(address: String) throws {
        #expect(try allows(address))
    }

    @Test("ranges of the caller's are allowed besides, and everything is without a policy")
    func exceptions() throws {
        let policy = try CurlLoader.DestinationPolicy.publicOnly(and: [
            "10.1.0.0/16", "fd00::/8", "127.0.0.1",
        ])
        for address in ["10.1.2.3", "fd12::1", "127.0.0.1", "::ffff:10.1.2.3", "1.1.1.1"] {
            #expect(try allows(address, policy), "\(address)")
        }
        for address in ["10.2.0.0", "fc00::1", "127.0.0.2"] { #expect(try !allows(address, policy), "\(address)") }
        #expect(try allows("127.0.0.1", .any))
    }

    @Test(
        "R31: what is no range is refused where it is given",
        arguments: [
            "", "10", "10.0.0.0/33", "10.0.0.256", "1.2.3.4/x", "::g", ":::", "1::2::3", "fe80::/129", "+1.1.1.1",
        ]
    )
    func noRange(text: String) {
        #expect(throws: InvalidArgument.self) { try CurlLoader.DestinationPolicy.publicOnly(and: [text]) }
    }
}
