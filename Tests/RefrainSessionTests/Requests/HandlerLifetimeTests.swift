// SPDX-License-Identifier: Apache-2.0
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

@Suite("The handlers of a request", .timeLimit(.minutes(10)))
struct HandlerLifetimeTests {
    /// Adds a handler of each kind; all name the request, and each holds an object that sets its signal.
    private func addHandlers(to request: DataRequest, _ gone: [String: Signal]) {
        let held = gone.mapValues(Lifetime.init)
        @Sendable func use(_ name: String) { withExtendedLifetime((held[name], request)) {} }
        request.uploadProgress { _ in use("upload") }
            .downloadProgress { _ in use("download") }
            .onHTTPResponse { _ in use("head") }
            .adapt(
                using: Adapter { adapted, _ in
                    use("adapter"); return adapted
                }
            )
            .retry(
                using: Retrier { _, _, _ in
                    use("retrier"); return .doNotRetry
                }
            )
            .cURLDescription { _ in use("curl") }
            .validate { _, _, _ in
                use("validation"); return .success(())
            }
            .responseString { _ in use("completion") }
        let monitor = ClosureEventMonitor()
        monitor.requestDidFinish = { _ in use("monitor") }
        request.eventMonitor(monitor)
    }

    private static let names = [
        "upload", "download", "head", "adapter", "retrier", "curl", "validation", "completion", "monitor",
    ]

    @Test(
        "are released when it has ended, however it did, also where they name it",
        .timeLimit(.minutes(2)),
        arguments: ["succeeds", "fails", "is cancelled", "was never started"]
    )
    func released(ending: String) async {
        let answer = ending == "fails" ? ScriptedLoader.Answer.failure(.timedOut) : .status(200, body: "ok")
        let session = Session.testing(ScriptedLoader(answer)) { $0.startsRequestsImmediately = false }
        let gone = Dictionary(uniqueKeysWithValues: Self.names.map { ($0, Signal()) })
        weak var weakly: DataRequest?
        do {
            let request = session.request(HTTPRequest.sample)
            weakly = request
            addHandlers(to: request, gone)
            if ending == "is cancelled" { request.resume().cancel() }
            if ending == "was never started" { request.cancel() } else { request.resume() }
            _ = await request.serializingResponse().response
        }
        for name in Self.names { await gone[name]?.wait() }
        await untilFreed { weakly }
    }

    @Test("that are added after the end are not kept", .timeLimit(.minutes(2)))
    func addedLate() async {
        let session = Session.testing(ScriptedLoader(.status(200, body: "ok")))
        let gone = Dictionary(uniqueKeysWithValues: Self.names.map { ($0, Signal()) })
        let request = session.request(HTTPRequest.sample)
        _ = await request.serializingResponse().response
        addHandlers(to: request, gone)
        for name in Self.names { await gone[name]?.wait() }
        #expect(request.response?.status == 200)
    }
}
