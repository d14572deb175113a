// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainTesting

@Suite("FaultServer: digests, gzip and dates", .serialized, .offPool, .timeLimit(.minutes(10)))
struct ContentTests {
    @Test(
        "SHA-256 of the NIST examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ]
    )
    func sha256(_ text: String, _ digest: String) {
        #expect(SHA256.hex(of: Array(text.utf8)) == digest)
    }

    @Test("SHA-256 of a million letters, in pieces of every size up to 200")
    func sha256InPieces() {
        let letters = [UInt8](repeating: 97, count: 1_000_000)
        var digest = SHA256()
        var offset = 0
        var size = 0
        while offset < letters.count {
            size = size % 200 + 1
            let end = min(letters.count, offset + size)
            letters[offset..<end].withUnsafeBytes { digest.update($0) }
            offset = end
        }
        let expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        #expect(Hex.text(of: digest.finish()) == expected)
        #expect(SHA256.hex(of: letters) == expected)
    }

    @Test("content is the same whether it is made at once or in pieces")
    func pieces() {
        let content = Content.random(count: 1000, seed: 9)
        let whole = content.bytes(0, 1000)
        for offset in stride(from: 0, to: 990, by: 7) {
            #expect(content.bytes(offset, 10) == Array(whole[offset..<(offset + 10)]))
        }
        let bomb = Gzip.zeros(count: 5_000_000)
        let file = bomb.bytes(0, bomb.count)
        let pieces = stride(from: 0, to: bomb.count, by: 13).flatMap { bomb.bytes($0, min(13, bomb.count - $0)) }
        #expect(pieces == file)
    }

    @Test(
        "gzip's own decoder accepts the bomb, at every length round a boundary",
        arguments: [0, 1, 2, 257, 258, 259, 260, 517, 1033, 1034, 2065, 4129, 8257, 8258, 100_000, 3_000_000]
    )
    func bomb(_ count: Int) throws {
        let content = Gzip.zeros(count: count)
        let decoded = try #require(gunzip(content.bytes(0, content.count)))
        #expect(decoded.count == count)
        #expect(decoded.allSatisfy { $0 == 0 })
    }

    @Test("the bomb is about a thousandth of what it expands to, for any size")
    func ratio() {
        #expect((1_000_000...1_100_000).contains(Gzip.zeros(count: 1 << 30).count))
        #expect((1_000_000_000...1_100_000_000).contains(Gzip.zeros(count: 1 << 40).count))
    }

    @Test("CRC-32 of zeros by powers equals CRC-32 of zeros byte by byte")
    func crc() {
        #expect(CRC32.of(Array("123456789".utf8)) == 0xcbf4_3926)
        for count in [0, 1, 2, 3, 255, 256, 1000, 65_537] {
            #expect(CRC32.ofZeros(count) == CRC32.of([UInt8](repeating: 0, count: count)))
        }
    }

    @Test("dates are written in the three forms of RFC 9110 §5.6.7")
    func dates() {
        #expect(HTTPDateText.imf(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDateText.rfc850(784_111_777) == "Sunday, 06-Nov-94 08:49:37 GMT")
        #expect(HTTPDateText.asctime(784_111_777) == "Sun Nov  6 08:49:37 1994")
        #expect(HTTPDateText.imf(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDateText.imf(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDateText.imf(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
        #expect(HTTPDateText.imf(253_402_300_799) == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDateText.imf(.infinity) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDateText.imf(-62_135_596_800) == "Mon, 01 Jan 0001 00:00:00 GMT")
        #expect(HTTPDateText.expanded("date+5", now: 784_111_772) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDateText.expanded("asctime-3", now: 784_111_780) == "Sun Nov  6 08:49:37 1994")
        #expect(HTTPDateText.expanded("120", now: 0) == "120")
        #expect(HTTPDateText.expanded("datexyz", now: 0) == "datexyz")
    }
}
