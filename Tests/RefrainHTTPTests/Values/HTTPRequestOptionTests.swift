// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@Suite("Options")
struct HTTPRequestOptionTests {
    private enum Priority: HTTPRequestOption { static let defaultValue = 0 }
    private enum Tag: HTTPRequestOption { static let defaultValue: String? = "none" }

    @Test(
        "B: HTTPRequestOption: an option has its default until it is set, and travels with the copy that it was set on"
    )
    func values() {
        let plain = sampleRequest()
        var request = plain
        #expect(request[option: Priority.self] == 0)
        request[option: Priority.self] += 3
        #expect(request[option: Priority.self] == 3)
        #expect(plain[option: Priority.self] == 0)
    }

    @Test("B: HTTPRequestOption: an optional option that is set to nil is nil, not its default")
    func optionals() {
        var request = sampleRequest()
        #expect(request[option: Tag.self] == "none")
        request[option: Tag.self] = nil
        #expect(request[option: Tag.self] == nil)
        request[option: Tag.self] = "x"
        #expect(request[option: Tag.self] == "x")
    }

    @Test("B: HTTPRequestOption: the settings of stages have the defaults that their documentation tells")
    func defaults() {
        let request = sampleRequest()
        #expect(request.timeouts == .standard)
        #expect(request.attemptTimeout == nil)
        #expect(request.timeout == nil)
        #expect(request.throttle == .always)
        #expect(request.serverEnvironment == nil)
        #expect(request.retryStrategy == nil)
        #expect(request.idempotencyKey == .none)
        #expect(request.maximumBodySize == nil)
        #expect(!request.streamsResponse)
        #expect(!request.needsFreshConnection)
    }

    @Test("R31: a limit of a body below zero is taken for zero")
    func negativeLimit() {
        var request = sampleRequest()
        for limit in [Int.min, -1, 0] {
            request.maximumBodySize = limit
            #expect(request.maximumBodySize == 0)
        }
    }

    @Test("Timeouts are equal by their limits, whether these were set or not")
    func timeouts() {
        var own = Timeout.Limits.standard
        own.connect = .seconds(10)
        #expect(own == .standard)
        #expect(Set([own, .standard]).count == 1)
        own.total = .seconds(1)
        #expect(own != .standard)
    }
}
