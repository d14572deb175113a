// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A transport that answers from a script: one answer for each attempt, the last one for all that follow.
final class ScriptedLoader: HTTPLoader {
    enum Answer: Sendable {
        case status(Int, headers: HTTPHeaders = [:], body: String = "")
        case failure(HTTPError.Code)
        /// Answers nothing until the task is cancelled.
        case hang
        case compute(@Sendable (HTTPRequest) async -> HTTPResult)
    }

    private let script: [Answer]
    private let state = Observed<[HTTPRequest]>([])

    init(_ script: Answer...) { self.script = script }

    /// The requests that came, in order.
    var requests: [HTTPRequest] { state.value }

    /// Returns when so many requests have come.
    func requests(atLeast count: Int) async { await state.wait { $0.count >= count } }

    func load(_ request: HTTPRequest) async -> HTTPResult {
        let answer = next(request)
        guard !Task.isCancelled else { return .failure(HTTPError(.cancelled, request: request)) }
        return await Self.result(of: answer, request)
    }

    private func next(_ request: HTTPRequest) -> Answer {
        let index = state.withLock { requests in
            requests.append(request.withAttemptLimits)
            return requests.count - 1
        }
        return script[min(index, script.count - 1)]
    }

    private static func result(of answer: Answer, _ request: HTTPRequest) async -> HTTPResult {
        switch answer {
        case .status(let code, let headers, let body):
            let status = HTTPStatus(rawValue: code)
            return .success(HTTPResponse(request: request, status: status, headers: headers, body: .text(body)))
        case .failure(let code):
            return .failure(HTTPError(code, request: request))
        case .hang:
            await untilCancelled()
            return .failure(HTTPError(.cancelled, request: request))
        case .compute(let answer):
            return await answer(request)
        }
    }
}

/// Returns when the task is cancelled, and not before.
func untilCancelled() async { _ = try? await TimerClock().sleep(until: .now.advanced(by: .seconds(100_000))) }

extension HTTPRequest {
    /// A GET to a host that is none.
    static let sample = HTTPRequest("/sample")

    init(_ path: String, method: HTTPMethod = .get, body: HTTPBody = .empty) {
        // The text is a URL, and the tests would show if it were not.
        self = (try? HTTPRequest("http://host.test\(path)", method: method, headers: [:], body: body)) ?? .fallback
    }

    private static var fallback: HTTPRequest { HTTPRequest(URL(filePath: "/")) }
}
