// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("The arrow")
struct MiddlewareChainTests {
    private func tag(_ name: String) -> ModifyRequest {
        ModifyRequest { request in
            var request = request
            request.headers.add("Via", name)
            return request
        }
    }

    @Test("Stages treat a request in the order in which they are written, however they are grouped")
    func order() async {
        let mock = MockLoader().otherwise(.status(200))
        let pair = tag("a") --> tag("b")
        let right = tag("a") --> tag("b") --> tag("c") --> mock
        let left = pair --> tag("c") --> mock
        let nested = (tag("a") --> (tag("b") --> tag("c"))) --> mock
        _ = await right.load(sampleRequest())
        _ = await left.load(sampleRequest())
        _ = await nested.load(sampleRequest())
        for request in mock.requests { #expect(request.headers[values: "Via"] == ["a", "b", "c"]) }
        #expect(mock.requests.count == 3)
    }

    private struct Witness: HTTPMiddleware {
        let name: String
        let journal: Journal<String>
        func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult { await next.load(request) }
        func reset() async { journal.append(name) }
    }

    @Test("A reset runs down the chain, through groups of stages as well, once for each stage")
    func reset() async {
        let journal = Journal<String>()
        let mock = MockLoader()
        func witness(_ name: String) -> Witness { Witness(name: name, journal: journal) }
        await ((witness("a") --> witness("b")) --> witness("c") --> mock).reset()
        #expect(journal.entries == ["a", "b", "c"])
        #expect(mock.resets == 1)
        await (witness("d") --> witness("e")).reset()
        #expect(journal.entries == ["a", "b", "c", "d", "e"])
    }

    @Test("B: AnyLoader: a hidden loader loads and resets the one behind it")
    func hidden() async {
        let mock = MockLoader().then(.status(201))
        let loader = AnyLoader(mock)
        #expect(await loader.load(sampleRequest()).status == 201)
        await loader.reset()
        #expect(mock.resets == 1)
    }
}
