// SPDX-License-Identifier: Apache-2.0
import RefrainSession
import TestSupport

/// A transport that is slow to return where its task is cancelled.
final class SlowToLeave: HTTPLoader {
    let begun = Signal()
    let journal: Journal<String>

    init(_ journal: Journal<String>) { self.journal = journal }

    func load(_ request: HTTPRequest) async -> HTTPResult {
        let cancelled = Signal()
        await withTaskCancellationHandler {
            begun.set()
            await cancelled.wait()
        } onCancel: {
            cancelled.set()
        }
        // No event: a reset that returns too early must have every chance to.
        for _ in 1...1000 { await Task.yield() }
        journal.append("returned")
        return .failure(HTTPError(.cancelled, request: request))
    }
}
