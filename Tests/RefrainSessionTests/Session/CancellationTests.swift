import RefrainSession
import Testing

@Suite("Cancelling at odd moments", .timeLimit(.minutes(1)))
struct CancellationTests {
    private final class CancelsAtStart: EventMonitor {
        func requestDidResume(_ request: Request) { request.cancel() }
    }

    @Test("R9: a request that is cancelled just as it starts is not sent")
    func cancelledAtStart() async {
        let loader = ScriptedLoader(.status(200))
        let session = Session.testing(loader, monitors: [CancelsAtStart()])
        let request = session.request(HTTPRequest("/a", method: .post, body: .text("x")))
        #expect(await request.serializingData().response.error?.isExplicitlyCancelledError == true)
        #expect(loader.requests.isEmpty)
    }
}
