// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCurl

@Suite("How long the loop waits while libcurl may hold back what it has received")
struct HeldAnswersTests {
    @Test("While nothing happens libcurl is called after 1, 10, 100 and each 1000 ms; any activity begins anew")
    func waits() {
        var held = HeldAnswers(isNeeded: true)
        held.transfers = 1
        #expect(held.shorten(60_000, hadActivity: true) == 1)
        #expect((0..<4).map { _ in held.shorten(60_000, hadActivity: false) } == [10, 100, 1000, 1000])
        #expect(held.shorten(60_000, hadActivity: true) == 1)
        #expect(held.shorten(60_000, hadActivity: false) == 10)
    }

    @Test("A shorter wait stays as it is")
    func shorter() {
        var held = HeldAnswers(isNeeded: true)
        held.transfers = 1
        #expect(held.shorten(0, hadActivity: true) == 0)
        #expect(held.shorten(7, hadActivity: false) == 7)
    }

    @Test("Without transfers over HTTP/2, or with a libcurl that holds back nothing, it waits as long as it would")
    func unneeded() {
        var none = HeldAnswers(isNeeded: true)
        #expect(none.shorten(60_000, hadActivity: true) == 60_000)
        var newer = HeldAnswers(isNeeded: false)
        newer.transfers = 1
        #expect(newer.shorten(60_000, hadActivity: true) == 60_000)
    }
}
