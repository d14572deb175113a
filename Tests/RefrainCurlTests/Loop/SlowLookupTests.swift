// SPDX-License-Identifier: Apache-2.0
import CurlShim
import RefrainCore
import RefrainHTTP
import RefrainTesting
import ScriptedResolver
import Testing

@testable import RefrainCurl

@Suite("CurlLoader: name servers that do not answer", .timeLimit(.minutes(10)))
struct SlowLookupTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    /// Keeps the name server from answering for a name until it is released.
    private func hold(_ name: String) throws {
        let isSet = "127.0.0.1"
            .withCString { address in
                var addresses: [UnsafePointer<CChar>?] = [address]
                return scripted_resolver_set(name, &addresses, 1)
            }
        try #require(isSet == 1 && scripted_resolver_hold(name, 1) == 1)
    }

    /// A request that outlasts any hold-up of a busy machine.
    private func patient(_ name: String) throws -> HTTPRequest {
        var request = try HTTPRequest("http://\(name):\(server.port)/ok")
        request.timeouts.connect = .seconds(600)
        return request
    }

    private func release(_ name: String) { _ = scripted_resolver_hold(name, 0) }

    @Test("a name that is looked up costs its request the time to connect, and no other request any")
    func timeout() async throws {
        let name = "silent-name-server.test"
        try hold(name)
        defer { release(name) }
        let loader = CurlLoader()
        var request = try HTTPRequest("http://\(name):\(server.port)/ok")
        request.timeouts.connect = .milliseconds(300)
        let other = try HTTPRequest(server.baseURL + "/ok")
        let waiting = Task { [request] in await loader.load(request) }
        #expect(try await loader.response(for: other).status == 200)
        let error = try failure(of: await waiting.value)
        #expect(error.code == .timedOut && error.bytesSent == 0, "\(error)")
        // The look-up goes on, and the loop with all else.
        #expect(try await loader.response(for: other).status == 200)
        #expect(scripted_resolver_lookups(name) == 1)
        release(name)
        request.timeouts.connect = .seconds(60)
        #expect(try await loader.response(for: request).status == 200)
    }

    @Test("R33: a lookup that takes longer than an attempt may connect goes on, and the next attempt takes its answer")
    func answerOfEarlierLookup() async throws {
        let name = "slow-name-server.test"
        try hold(name)
        defer { release(name) }
        let loader = CurlLoader()
        var request = try patient(name)
        request.timeouts.connect = .milliseconds(300)
        #expect(try failure(of: await loader.load(request)).code == .timedOut)
        var next = request
        next.timeouts.connect = .seconds(60)
        let waiting = (0..<3).map { [next] _ in Task { try await loader.response(for: next).status } }
        while scripted_resolver_lookups(name) < 4 { await Task.yield() }
        // The answer to the first one comes. Not all versions of libcurl can do without those of the others.
        let isEnough = (0x075700..<0x081400).contains(refrain_version())
        try #require(scripted_resolver_hold(name, isEnough ? 2 : 0) == 1)
        for task in waiting { #expect(try await task.value == 200) }
        #expect(try await loader.response(for: next).status == 200)
        #expect(scripted_resolver_lookups(name) == 4)
    }

    @Test("a request that is cancelled while its name is looked up ends at once, and so does a reset")
    func cancelled() async throws {
        let name = "silent-and-cancelled.test"
        try hold(name)
        defer { release(name) }
        let loader = CurlLoader()
        let request = try patient(name)
        let waiting = Task { await loader.load(request) }
        while scripted_resolver_lookups(name) == 0 { await Task.yield() }
        waiting.cancel()
        let error = try failure(of: await waiting.value)
        #expect(error.code == .cancelled, "\(error)")
        let another = Task { await loader.load(request) }
        while scripted_resolver_lookups(name) == 1 { await Task.yield() }
        await loader.reset()
        #expect(try failure(of: await another.value).code == .cancelled)
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/ok")).status == 200)
        release(name)
        #expect(try await loader.response(for: request).status == 200)
    }

    @Test("a loader that is shut down while a name is looked up ends when the name server has answered, at the latest")
    func shutdown() async throws {
        let name = "silent-at-the-end.test"
        try hold(name)
        let loader = CurlLoader()
        let request = try patient(name)
        let waiting = Task { await loader.load(request) }
        while scripted_resolver_lookups(name) == 0 { await Task.yield() }
        async let end: Void = loader.shutdown()
        let error = try failure(of: await waiting.value)
        #expect(error.code == .sessionInvalidated, "\(error)")
        release(name)
        await end
    }
}
