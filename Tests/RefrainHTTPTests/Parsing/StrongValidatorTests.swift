// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import Testing

@Suite("Strong validators")
struct StrongValidatorTests {
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    static func find(
        tag: [String] = [],
        modified: [String] = [],
        date: [String] = [date],
        margin: Duration = StrongValidator.defaultMargin
    ) -> String? {
        StrongValidator.find(entityTag: tag, lastModified: modified, date: date, wallClock: .now, margin: margin)?
            .fieldValue
    }

    @Test("R11: a strong entity tag is a strong validator, a weak or malformed one hides the date too")
    func entityTag() {
        let old = ["Sat, 05 Nov 1994 08:49:37 GMT"]
        #expect(Self.find(tag: ["\"a\""], modified: old) == "\"a\"")
        #expect(Self.find(tag: ["\"a\""], date: []) == "\"a\"")
        #expect(Self.find(tag: ["W/\"a\""], modified: old) == nil)
        #expect(Self.find(tag: ["a"], modified: old) == nil)
        #expect(Self.find(tag: ["\"a\"", "\"b\""], modified: old) == nil)
    }

    @Test("R11: a modification date is strong if it is well before the response's Date")
    func lastModified() {
        let minute = "Sun, 06 Nov 1994 08:48:37 GMT"
        #expect(Self.find(modified: [minute]) == minute)
        #expect(Self.find(modified: ["Sunday, 06-Nov-94 08:48:37 GMT"]) == minute)
        #expect(Self.find(modified: ["Sun, 06 Nov 1994 08:48:38 GMT"]) == nil)
        #expect(Self.find(modified: [Self.date]) == nil)
        #expect(Self.find(modified: ["Sun, 06 Nov 1994 08:50:37 GMT"]) == nil)
        #expect(Self.find(modified: [minute], date: []) == nil)
        #expect(Self.find(modified: [minute], date: ["x"]) == nil)
        #expect(Self.find(modified: ["x"]) == nil)
        #expect(Self.find() == nil)
    }

    @Test("R11: the margin can be changed, down to the second that RFC 9110 demands")
    func margin() {
        #expect(Self.find(modified: ["Sun, 06 Nov 1994 08:49:36 GMT"], margin: .seconds(1)) != nil)
        #expect(Self.find(modified: [Self.date], margin: .zero) == nil)
        #expect(Self.find(modified: [Self.date], margin: .seconds(-5)) == nil)
    }
}
