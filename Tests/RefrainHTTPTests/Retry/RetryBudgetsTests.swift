// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import TestSupport
import Testing

@testable import RefrainHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Budgets by origin", .computing)
struct RetryBudgetsTests {
    private static let schemes = ["http", "https", "HTTP", "ftp"]
    private static let authorities = [
        "a.example", "a.example.org", "A.example", "a.example:80", "a.example:8080", "a.example:80801",
        "user@a.example",
        "a.example@b.example", "[::1]", "[::1]:80", "b.example", "",
    ]
    private static let rests = ["", "/", "/a.example", "?q=http://b.example/", "#f", "/a/b:8080?x#y", "//b.example"]

    @Test("R22: a URL has the budget of its origin, whatever was asked for before")
    func sameAsByOrigin() throws {
        forEachSeed { random in
            let budgets = Retry.Budgets()
            for _ in 0..<6 {
                guard let scheme = Self.schemes.randomElement(using: &random),
                    let authority = Self.authorities.randomElement(using: &random),
                    let rest = Self.rests.randomElement(using: &random),
                    let url = URL(string: "\(scheme)://\(authority)\(rest)")
                else { continue }
                let expected = Origin(url).map { budgets.budget(for: $0) }
                let first = budgets.budget(for: url)
                let second = budgets.budget(for: url)
                guard first === expected, second === expected else { return false }
            }
            return true
        }
    }

    @Test("R22: a relative URL has the budget of its base's origin, and none without a base")
    func relative() throws {
        let budgets = Retry.Budgets()
        let base = try #require(URL(string: "http://a.example/x"))
        let relative = try #require(URL(string: "y", relativeTo: base))
        #expect(budgets.budget(for: relative) === budgets.budget(for: base))
        let alone = try #require(URL(string: "/y"))
        #expect(budgets.budget(for: alone) == nil)
    }
}
