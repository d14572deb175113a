// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

@Suite("Streams", .timeLimit(.minutes(5)))
struct StreamTests {
    /// Answers a status with a body that can be read once and holds a connection until then, and then others.
    private final class StreamingLoader: HTTPLoader {
        private let script: Locked<[(Int, HTTPHeaders)]>
        private let isFree = Locked(Signal())

        init(_ script: (Int, HTTPHeaders)...) { self.script = Locked(script) }

        /// Returns when the last response's body does not hold its connection any more.
        func freed() async { await isFree.withLock { $0 }.wait() }

        func load(_ request: HTTPRequest) async -> HTTPResult {
            let (code, headers) = script.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            // What a transport holds for an unread body: here, an object whose deallocation is observed.
            let signal = Signal()
            let connection = Lifetime(signal)
            isFree.withLock { $0 = signal }
            let chunks = AsyncStream<[UInt8]>(unfolding: {
                withExtendedLifetime(connection) {}
                return nil
            })
            let (status, body) = (HTTPStatus(rawValue: code), HTTPBody.oneShot(chunks))
            return .success(HTTPResponse(request: request, status: status, headers: headers, body: body))
        }
    }

    private func ended(_ request: DataStreamRequest) async -> RefrainError? {
        do {
            for try await _ in request.chunks {}
            return nil
        } catch {
            return error as? RefrainError
        }
    }

    @Test("R28: a stream whose response fails validation frees the connection, also while the request is referenced")
    func refusedAnswer() async {
        let loader = StreamingLoader((404, [:]))
        let session = Session.testing(loader)
        let request = session.streamRequest(HTTPRequest.sample).validate()
        #expect(await ended(request)?.responseCode == 404)
        await loader.freed()
        #expect(request.response?.status == 404)
    }

    @Test("R20: a stream of a loader that keeps no time ends where not a byte comes", arguments: [true, false])
    func idle(throwsWhereCancelled: Bool) async {
        let clock = TestClock()
        let loader = AnyLoader { request in
            let chunks = AsyncThrowingStream<[UInt8], any Error> {
                do { try await clock.sleep(for: .seconds(1000)) } catch  where !throwsWhereCancelled { return nil }
                return [1]
            }
            return .success(HTTPResponse(request: request, status: 200, body: .oneShot(chunks)))
        }
        var settings = Session.Settings()
        settings.clocks = clock.retryClocks()
        let session = Session(loader: loader, settings: settings)
        let request = session.streamRequest(HTTPRequest.sample)
        let reading = Task { await ended(request) }
        await clock.sleepers(atLeast: 2)
        await clock.advance(by: .seconds(60))
        #expect(await reading.value?.transportCode == .timedOut)
        withExtendedLifetime(session) {}
    }

    @Test(
        "R28: a stream that waits for its next attempt releases the connection of the last one",
        arguments: [true, false]
    )
    func backOff(validates: Bool) async {
        let loader = StreamingLoader((503, [:]), (200, [:]))
        let isRetrying = Signal()
        let session = Session.testing(
            loader,
            interceptor: Retrier { request, _, _ in
                request.suspend()
                return .retry
            },
            monitors: [.retrying(isRetrying)]
        )
        let request = session.streamRequest(HTTPRequest.sample)
        if validates { request.validate() }
        request.resume()
        await isRetrying.wait()
        await loader.freed()
        #expect(request.response?.status == 503)
        request.resume()
        #expect(await ended(request) == nil)
    }

    @Test("R28: an error that carries a stream's last answer does not keep its connection")
    func errorWithAnswer() async {
        let loader = StreamingLoader((503, ["Retry-After": "100000"]))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        let request = session.streamRequest(HTTPRequest.sample)
        let error = await ended(request)
        #expect(error?.transportCode == .retryAfterTooLong)
        await loader.freed()
        #expect(request.response?.status == 503)
    }

    @Test("a reader that is told of a failure finds the request ended with it, and not cancelled")
    func failureIsNoCancellation() async {
        for _ in 0..<1_000 {
            let session = Session.testing(ScriptedLoader(.status(404, body: "no")))
            let request = session.streamRequest(HTTPRequest.sample).validate()
            #expect(await ended(request)?.responseCode == 404)
            #expect(request.isFinished)
            #expect(request.error?.responseCode == 404)
        }
    }

    @Test("each of several handlers gets every chunk, and one end")
    func severalHandlers() async {
        let loader = ScriptedLoader(
            .compute { request in
                let body = HTTPBody.stream {
                    AsyncStream<[UInt8]> { chunks in
                        for number in 0..<10 as Range<UInt8> { chunks.yield([number]) }
                        chunks.finish()
                    }
                }
                return .success(HTTPResponse(request: request, status: 200, body: body))
            }
        )
        let session = Session.testing(loader) { $0.startsRequestsImmediately = false }
        let request = session.streamRequest(HTTPRequest.sample)
        let journals = (0..<3).map { _ in Journal<UInt8>() }
        let ends = (0..<3).map { _ in Signal() }
        let count = Counter()
        for (journal, end) in zip(journals, ends) {
            request.responseStream { event in
                switch event {
                case .stream(let chunk): for byte in chunk { journal.append(byte) }
                case .complete(.success):
                    count.increment()
                    end.set()
                case .complete(.failure(let error)): Issue.record(error)
                }
            }
        }
        request.resume()
        for end in ends { await end.wait() }
        for journal in journals { #expect(journal.entries == Array(0..<10)) }
        #expect(count.value == 3)
    }

    @Test("a handler that is added after the end is told of the end")
    func lateHandler() async {
        let isFinished = Signal()
        let session = Session.testing(ScriptedLoader(.status(404)), monitors: [.finished(isFinished)])
        let request = session.streamRequest(HTTPRequest.sample).validate()
        for _ in 0..<2 {
            let (end, codes) = (Signal(), Journal<Int?>())
            request.responseStream { event in
                guard case .complete(.failure(let error)) = event else { return }
                codes.append(error.responseCode)
                end.set()
            }
            await end.wait()
            #expect(codes.entries == [404])
            await isFinished.wait()
            #expect(request.isFinished)
        }
    }

    @Test("a second reader of the chunks is told so, and does not disturb the first one")
    func secondReader() async throws {
        let session = Session.testing(ScriptedLoader(.status(200, body: "ok")))
        let request = session.streamRequest(HTTPRequest.sample)
        let first = request.chunks.makeAsyncIterator()
        let error = await ended(request)
        #expect(error?.transportCode == .bodyAlreadyRead)
        #expect(try await first.next() == Array("ok".utf8))
        #expect(try await first.next() == nil)
        #expect(request.isFinished)
    }

    @Test("A: validation: a check of the caller's sees a stream's request and head, and its error ends the stream")
    func ownCheck() async {
        let session = Session.testing(ScriptedLoader(.status(200, headers: ["X-Kind": "b"], body: "no")))
        let request = session.streamRequest(HTTPRequest.sample).validate { request, response in
            request != nil && response.headers["X-Kind"] == "a" ? .success(()) : .failure(TestError(name: "kind"))
        }
        guard case .responseValidationFailed(.customValidationFailed(let error), _)? = await ended(request) else {
            Issue.record("\(String(describing: request.error))")
            return
        }
        #expect(error as? TestError == TestError(name: "kind"))
    }

    /// A session whose answers break off after one chunk.
    private func breakingSession() -> Session {
        Session.testing(
            ScriptedLoader(
                .compute { request in
                    let chunks = AsyncThrowingStream<[UInt8], any Error> { chunks in
                        chunks.yield([1])
                        chunks.finish(throwing: HTTPError(.networkConnectionLost, request: request))
                    }
                    return .success(HTTPResponse(request: request, status: 200, body: .oneShot(chunks)))
                }
            )
        )
    }

    private func failure(of sequence: some AsyncSequence) async -> HTTPError.Code? {
        do {
            for try await _ in sequence {}
            return nil
        } catch {
            return (error as? RefrainError)?.transportCode
        }
    }

    @Test("R24: chunks cannot be had a second time: a retry of theirs ends at once with what broke them")
    func retriedChunks() async {
        let clock = TestClock(.autoAdvancing)
        let session = breakingSession()
        let request = session.streamRequest(HTTPRequest.sample)
        #expect(await failure(of: request.chunks.retry(.standard, clock: clock)) == .networkConnectionLost)
        #expect(clock.sleeps.isEmpty)
    }

    @Test("a second reader of a stream that has failed is told of that failure")
    func readerAfterFailure() async {
        let clock = TestClock(.autoAdvancing)
        let session = breakingSession()
        let request = session.streamRequest(HTTPRequest.sample)
        #expect(await ended(request)?.transportCode == .networkConnectionLost)
        #expect(await ended(request)?.transportCode == .networkConnectionLost)
        let mapped = session.streamRequest(HTTPRequest.sample).chunks.map(\.count)
        #expect(await failure(of: mapped.retry(.standard, clock: clock)) == .networkConnectionLost)
    }

    @Test("a stream that its loader's own error breaks ends with that error, and not as cancelled")
    func foreignError() async {
        let loader = ScriptedLoader(
            .compute { request in
                let chunks = AsyncThrowingStream<[UInt8], any Error> { chunks in
                    chunks.yield([1])
                    chunks.finish(throwing: TestError(name: "disk"))
                }
                return .success(HTTPResponse(request: request, status: 200, body: .oneShot(chunks)))
            }
        )
        let session = Session.testing(loader)
        let error = await ended(session.streamRequest(HTTPRequest.sample))
        #expect(error?.transportCode == .callerFailed)
        #expect(error?.isCancellation == false)
        #expect((error?.underlyingError as? HTTPError)?.underlyingError as? TestError == TestError(name: "disk"))
    }

    @Test("R7: the body of a refusal is read before a stream is decided on, where a profile reads it")
    func refusalBody() async {
        let loader = ScriptedLoader(
            .compute { request in
                let chunks = AsyncStream<[UInt8]> { chunks in
                    chunks.yield(Array(#"{"error":{"code":"insufficient_quota"}}"#.utf8))
                    chunks.finish()
                }
                return .success(HTTPResponse(request: request, status: 429, body: .oneShot(chunks)))
            }
        )
        let session = Session.testing(loader, interceptor: RetryPolicy.modelAPI(.openAI))
        let request = session.streamRequest(HTTPRequest.sample).validate()
        #expect(await ended(request)?.responseCode == 429)
        #expect(request.attempts.map(\.reason) == [.quotaSpent])
    }
}
