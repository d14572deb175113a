// SPDX-License-Identifier: Apache-2.0
import Foundation
import RefrainCore
import Testing

@testable import RefrainHTTP

@Suite("What localizedDescription says of an error")
struct LocalizedErrorsTests {
    @Test(
        "it is the description, not the name of a type and a number",
        arguments: [
            InvalidArgument("limit", is: -1, expected: "at least 0"), Auth.Failure.missingCredential,
            Download.CannotStartOver(), HTTPBody.ReadTwice(), HTTPBody.LengthMismatch(announced: 3, delivered: 2),
            HTTPBody.TooLarge(limit: 5),
        ] as [any Error]
    )
    func description(error: any Error) { #expect(error.localizedDescription == "\(error)") }
}
