// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("The life of a task", .computing)
struct HTTPTaskStateTests {
    private typealias State = HTTPTaskState<Int, Int, Int>

    /// What a random order of events has led to.
    private struct Log {
        var addedBeforeCancel: [Int] = []
        var addedCompletions: [Int] = []
        var cancelRuns: [Int] = []
        var completionRuns: [(handler: Int, outcome: Int)] = []
        var cancelsOfWork = 0

        mutating func note(_ action: State.Action) {
            cancelRuns += action.cancelHandlers
            cancelsOfWork += action.cancelsWork ? 1 : 0
            guard let outcome = action.outcome else { return }
            completionRuns += action.completionHandlers.map { ($0, outcome) }
        }
    }

    private static let cancelledOutcome = -1

    @Test("R30: in every order of events each completion handler runs exactly once, all with the same outcome")
    func oneCompletion() {
        forEachSeed { random in
            var state = State()
            var log = Log()
            var firstEnd: Int?
            var isCancelled = false
            for handler in 0..<Int.random(in: 1...30, using: &random) {
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    log.addedCompletions.append(handler)
                    log.note(state.handle(.addCompletionHandler(handler)))
                case 2, 3:
                    log.note(state.handle(.addCancelHandler(handler)))
                case 4:
                    if firstEnd == nil { isCancelled = true }
                    log.note(state.handle(.cancel))
                default:
                    let outcome = isCancelled ? Self.cancelledOutcome : handler
                    firstEnd = firstEnd ?? outcome
                    let event = State.Event.finish(handler, ifCancelled: Self.cancelledOutcome, isCancellation: false)
                    log.note(state.handle(event))
                }
            }
            if firstEnd == nil {
                // Not before the loader has answered.
                guard log.completionRuns.isEmpty else { return false }
                firstEnd = isCancelled ? Self.cancelledOutcome : 1000
                log.note(state.handle(.finish(1000, ifCancelled: Self.cancelledOutcome, isCancellation: false)))
            }
            return log.completionRuns.map(\.handler).sorted() == log.addedCompletions
                && log.completionRuns.allSatisfy { $0.outcome == firstEnd }
                && log.cancelsOfWork == (isCancelled ? 1 : 0)
        }
    }

    @Test("B: HTTPTask: cancel handlers run at most once each, those added before the cancellation in reverse order")
    func cancelHandlers() {
        forEachSeed { random in
            var state = State()
            let before = Array(0..<Int.random(in: 0...8, using: &random))
            for handler in before { _ = state.handle(.addCancelHandler(handler)) }
            let finishesFirst = Bool.random(using: &random)
            if finishesFirst {
                _ = state.handle(.finish(1, ifCancelled: 0, isCancellation: false))
            }
            let onCancel = state.handle(.cancel)
            let late = state.handle(.addCancelHandler(99))
            let again = state.handle(.cancel)
            let end = state.handle(.finish(1, ifCancelled: 0, isCancellation: false))
            let afterEnd = state.handle(.addCancelHandler(100))
            guard !finishesFirst else {
                return onCancel.cancelHandlers.isEmpty && late.cancelHandlers.isEmpty && !onCancel.cancelsWork
            }
            return onCancel.cancelHandlers == before.reversed() && late.cancelHandlers == [99]
                && again.cancelHandlers.isEmpty && end.cancelHandlers.isEmpty && afterEnd.cancelHandlers == [100]
        }
    }

    @Test(
        "B: HTTPTask: a loader that ends as cancelled by itself runs the cancel handlers before the completion"
    )
    func cancelledFromWithin() {
        var state = State()
        _ = state.handle(.addCancelHandler(1))
        _ = state.handle(.addCancelHandler(2))
        _ = state.handle(.addCompletionHandler(3))
        let action = state.handle(.finish(-1, ifCancelled: 0, isCancellation: true))
        #expect(action.cancelHandlers == [2, 1])
        #expect(action.completionHandlers == [3])
        #expect(action.outcome == -1)
    }
}
