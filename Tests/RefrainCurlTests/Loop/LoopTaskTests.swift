// SPDX-License-Identifier: Apache-2.0
import CurlShim
import RefrainHTTP
import RefrainTesting
import Testing

@testable import RefrainCurl

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("CurlLoader: tasks that run on its thread", .timeLimit(.minutes(10)))
struct LoopTaskTests {
    let server: FaultServer
    let loader = CurlLoader()

    init() throws { server = try FaultServer() }

    private static func isOnThread(of loader: CurlLoader) -> Bool {
        refrain_current_loop() == Unmanaged.passUnretained(loader.loop).toOpaque()
    }

    @Test("a task that prefers the loader's thread runs there before, between and after its requests")
    func preference() async throws {
        let (loader, url) = (loader, server.baseURL + "/ok")
        let places = await withTaskGroup(of: [Bool].self) { group in
            for _ in 0..<8 {
                group.addTask(executorPreference: loader.taskExecutor) {
                    var places = [Self.isOnThread(of: loader)]
                    for _ in 0..<20 {
                        guard let request = try? HTTPRequest(url),
                            case .success(let response) = await loader.load(request), response.status == 200
                        else { return [] }
                        places.append(Self.isOnThread(of: loader))
                        try? await Task.sleep(for: .microseconds(50))
                        places.append(Self.isOnThread(of: loader))
                    }
                    return places
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(places == Array(repeating: Array(repeating: true, count: 41), count: 8))
        #expect(!Self.isOnThread(of: loader))
    }

    @Test("such a task is resumed by the answer to a request that another thread drove, and by its cancellation")
    func otherThreads() async throws {
        let (loader, url) = (loader, server.baseURL)
        _ = try await loader.response(for: HTTPRequest(url + "/ok"))
        for _ in 0..<50 {
            async let here = loader.response(for: HTTPRequest(url + "/ok"))
            let there = Task(executorPreference: loader.taskExecutor) {
                try await loader.response(for: HTTPRequest(url + "/ok")).status
            }
            #expect(try await there.value == 200)
            #expect(try await here.status == 200)
        }
        let hanging = Task(executorPreference: loader.taskExecutor) {
            await loader.load(try HTTPRequest(url + "/hang"))
        }
        #expect(await eventually { server.count(path: "/hang") == 1 })
        hanging.cancel()
        guard case .failure(let error) = try await hanging.value else {
            Issue.record("it was answered")
            return
        }
        #expect(error.code == .cancelled)
    }

    @Test("once the loader has ended its tasks run to their ends elsewhere")
    func end() async throws {
        let (loader, url) = (loader, server.baseURL)
        let hanging = Task(executorPreference: loader.taskExecutor) {
            let result = await loader.load(try HTTPRequest(url + "/hang"))
            await Task.yield()
            return result
        }
        #expect(await eventually { server.count(path: "/hang") == 1 })
        await loader.shutdown()
        guard case .failure(let error) = try await hanging.value else {
            Issue.record("it was answered")
            return
        }
        #expect(error.code == .sessionInvalidated)
        let late = Task(executorPreference: loader.taskExecutor) {
            await Task.yield()
            return Self.isOnThread(of: loader)
        }
        #expect(await !late.value)
    }

    @Test("what has arrived while a task kept the thread busy counts, whatever limit has passed meanwhile")
    func busyThread() async throws {
        let loader = loader
        // An earlier answer, so that there is a connection, and the request leaves at once.
        _ = try await loader.response(for: HTTPRequest(server.baseURL + "/ok"))
        var request = try HTTPRequest(server.baseURL + "/delay?ms=50")
        request.timeouts = Timeout.Limits(connect: nil, firstByte: nil, idle: .milliseconds(1500), total: nil)
        let (path, idle) = ("/delay", request)
        let waiting = Task(executorPreference: loader.taskExecutor) { try await loader.response(for: idle).status }
        #expect(await eventually { server.count(path: path) == 1 })
        await Task(executorPreference: loader.taskExecutor) { _ = usleep(2_500_000) }.value
        #expect(try await waiting.value == 200)
    }
}
