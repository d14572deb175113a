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

    @Test("so it is of a poll that has ended, which only a poll can make")
    func poll() async throws {
        let error = try #require(
            await #expect(throws: Backoff.PollingEnded.self) {
                try await RefrainCore.poll(.never) {
                    1
                } until: {
                    $0 == 2
                }
            }
        )
        #expect(error.localizedDescription == "the condition was not met by 1 values: attemptsUsedUp")
    }
}
