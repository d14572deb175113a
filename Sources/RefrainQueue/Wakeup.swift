// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP

/// Wakes the loop of a worker: something was enqueued, or a request has ended.
final class Wakeup: Sendable {
    private let state = Locked(State())

    private struct State {
        var isSignalled = false
        var waiter: UnsafeContinuation<Void, Never>?
    }

    /// Ends the present wait, or the next one.
    func signal() {
        let waiter = state.withLock { state in
            state.isSignalled = state.waiter == nil
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Returns after a signal, or after a time.
    func wait(atMost limit: Duration, on clock: AnyClock) async {
        _ = await withTimeout(limit, on: clock) {
            await withTaskCancellationHandler {
                await resumption { continuation in
                    let isSignalled = self.state.withLock { state in
                        defer { state.isSignalled = false }
                        if !state.isSignalled { state.waiter = continuation }
                        return state.isSignalled
                    }
                    if isSignalled { continuation.resume() }
                }
            } onCancel: {
                self.signal()
            }
        }
    }
}

/// A wake-up of a worker that may be gone.
struct WeakWakeup: Sendable {
    private(set) weak var wakeup: Wakeup?

    init(wakeup: Wakeup) { self.wakeup = wakeup }
}
