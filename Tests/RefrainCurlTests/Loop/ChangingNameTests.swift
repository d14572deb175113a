// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import ScriptedResolver
import Testing

@testable import RefrainCurl

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("CurlLoader: names whose answer changes", .timeLimit(.minutes(10)))
struct ChangingNameTests {
    /// A name that is answered with one address after the other; the last one holds.
    private struct ChangingName {
        let host: String

        /// How often it was looked up.
        var lookups: Int { Int(scripted_resolver_lookups(host)) }

        init(_ host: String, _ addresses: String...) throws { try self.init(host, addresses) }

        init(_ host: String, _ addresses: [String]) throws {
            self.host = host
            var texts: [UnsafePointer<CChar>?] = addresses.map { strdup($0).map { UnsafePointer($0) } }
            defer { for text in texts { free(UnsafeMutablePointer(mutating: text)) } }
            try #require(scripted_resolver_set(host, &texts, texts.count) == 1)
        }
    }

    private let server: FaultServer

    init() throws { server = try FaultServer() }

    private func chain(
        attempts: Int = 3,
        _ policy: CurlLoader.DestinationPolicy = .any
    ) throws -> some HTTPLoader {
        var configuration = CurlLoader.Configuration()
        configuration.destinations = policy
        let transport = try CurlLoader(configuration: configuration)
        let retries = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: attempts))
        return Redirect() --> Retry(retries, budgets: nil) --> transport
    }

    private func url(_ name: ChangingName, _ path: String = "/ok") -> String {
        "http://\(name.host):\(server.port)\(path)"
    }

    @Test("R8: a name server that fails has another code than a name that does not exist")
    func silentNameServer() async throws {
        for (addresses, code) in [(["again"], HTTPError.Code.dnsLookupFailed), ([], .cannotFindHost)] {
            let name = try ChangingName("lookup-\(addresses.count).test", addresses)
            let loader = CurlLoader()
            try await concurrently(20, inFlight: 20) { _ in
                let error = try failure(of: await loader.load(HTTPRequest(url(name))))
                #expect(error.code == code, "\(error)")
                #expect(error.bytesSent == 0)
            }
        }
    }

    @Test("R8: a name server that comes back is waited for by further attempts")
    func recoveringNameServer() async throws {
        let name = try ChangingName("recovering.test", ["again", "again", "again", "again", "127.0.0.1"])
        let response = try await chain(attempts: 9).response(for: HTTPRequest(url(name)))
        #expect(response.status == 200)
        #expect(response.attempts.dropLast().allSatisfy { $0.error == .dnsLookupFailed })
    }

    @Test("R33: after a failed connect the name is looked up anew, and the new address is used")
    func deadFirst() async throws {
        let name = try ChangingName("dead-first.test", "127.0.0.2", "127.0.0.3", "127.0.0.1")
        let loader = try chain()
        let response = try await loader.response(for: HTTPRequest(url(name)))
        #expect(response.status == 200)
        #expect(response.attempts.map(\.error) == [.cannotConnectToHost, .cannotConnectToHost, nil])
        #expect(name.lookups == 3)
        #expect(server.connectionCount == 1)
    }

    @Test("R33: an answer that was good is kept: of ten requests on new connections one looks the name up")
    func goodAnswer() async throws {
        let name = try ChangingName("good.test", "127.0.0.1")
        let loader = try chain()
        var request = try HTTPRequest(url(name))
        request.needsFreshConnection = true
        let start = ContinuousClock.now
        for _ in 0..<10 { #expect(try await loader.response(for: request).status == 200) }
        // It is kept for a minute, which ten requests may take on a busy machine.
        let minutes = Int((ContinuousClock.now - start).components.seconds / 60)
        #expect(name.lookups <= 1 + minutes)
        #expect(server.connectionCount == 10)
    }

    @Test("R33: a POST of which nothing has left is sent to the new address, once")
    func post() async throws {
        let name = try ChangingName("post.test", "127.0.0.2", "127.0.0.1")
        let request = try HTTPRequest(url(name, "/echo"), method: .post, body: .text("once"))
        #expect(try await chain().response(for: request).attempts.count == 2)
        #expect(server.count(path: "/echo") == 1)
    }

    @Test("a policy judges the one answer that is connected to: there is no look-up before that of the connection")
    func oneLookup() async throws {
        // A check with a look-up of its own would take the first answer, and the connection the second.
        let name = try ChangingName("rebinding.test", "127.0.0.2", "127.0.0.1")
        let loader = try chain(attempts: 1, .publicOnly(and: ["127.0.0.2"]))
        let error = try failure(of: await loader.load(HTTPRequest(url(name))))
        #expect(error.code == .cannotConnectToHost)
        #expect(name.lookups == 1)
        #expect(server.connectionCount == 0)
    }

    @Test("a name that is allowed first and refused at the next look-up is not connected to, and not asked for again")
    func changedAnswer() async throws {
        let name = try ChangingName("allowed-first.test", "127.0.0.2", "127.0.0.1")
        let loader = try chain(.publicOnly(and: ["127.0.0.2"]))
        let error = try failure(of: await loader.load(HTTPRequest(url(name))))
        #expect(error.code == .destinationRefused)
        #expect(error.attempts.map(\.error) == [.cannotConnectToHost, .destinationRefused])
        #expect(name.lookups == 2)
        #expect(server.connectionCount == 0)
    }

    @Test("a redirect to a name that has changed its answer is judged by the new one")
    func redirect() async throws {
        let inner = try ChangingName("inner-changes.test", "127.0.0.2", "127.0.0.3")
        let outer = try ChangingName("outer-stays.test", "127.0.0.1")
        let loader = try chain(.publicOnly(and: ["127.0.0.1", "127.0.0.2"]))
        let request = try HTTPRequest(url(outer, "/redirect-to?url=\(url(inner))"))
        let error = try failure(of: await loader.load(request))
        #expect(error.code == .destinationRefused, "\(error)")
        #expect(inner.lookups == 2)
        #expect(server.count(path: "/ok") == 0)
    }
}
