// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Retry {
    /// One retry budget for each origin, made for the first request to the origin (rule R22).
    public final class Budgets: Sendable {
        private let make: @Sendable (Origin) -> RetryBudget
        private let state: Locked<State>?

        private struct State {
            var budgets: [Origin: RetryBudget] = [:]
            /// The last requested URL: its part up to the path, and the budget.
            ///
            /// To take a URL apart costs ten times as much as to compare it.
            var last: (origin: String, budget: RetryBudget)?
        }

        /// How many origins are remembered.
        ///
        /// Past it, all are forgotten: a budget's memory is only seconds long anyway.
        private static let capacity = 4096

        /// Makes a set of budgets that `make` creates on demand; defaults to the standard budget.
        public init(_ make: @escaping @Sendable (Origin) -> RetryBudget = { _ in .standard() }) {
            self.make = make
            state = Locked(State())
        }

        /// The same budget for every origin: a client of one service needs no table.
        public init(all budget: RetryBudget) {
            make = { _ in budget }
            state = nil
        }

        /// The default budgets of all retry stages of the process.
        public static let shared = Budgets()

        /// The budget of an origin.
        public func budget(for origin: Origin) -> RetryBudget {
            state?.withLock { budget(for: origin, in: &$0) } ?? make(origin)
        }

        /// The budget of the origin that a URL leads to; nil where it leads to none.
        func budget(for url: URL) -> RetryBudget? {
            guard let state else { return Origin(url).map(make) }
            let text = url.absoluteString
            let known = state.withLock { state in
                state.last.flatMap { last in URLText.origin(of: text, is: last.origin) ? last.budget : nil }
            }
            if let known { return known }
            guard let origin = Origin(url) else { return nil }
            return state.withLock { state in
                let budget = budget(for: origin, in: &state)
                state.last = (URLText.origin(of: text), budget)
                return budget
            }
        }

        private func budget(for origin: Origin, in state: inout State) -> RetryBudget {
            if let known = state.budgets[origin] { return known }
            if state.budgets.count >= Self.capacity { state = State() }
            let new = make(origin)
            state.budgets[origin] = new
            return new
        }
    }
}

extension URLText {
    /// The scheme and the authority of an absolute URL.
    fileprivate static func origin(of url: String) -> String {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return url }
        let slashes = url.utf8[colon...].prefix(3)
        return String(url[..<(url.utf8[slashes.endIndex...].firstIndex(where: endsOrigin) ?? url.endIndex)])
    }

    /// Whether that part of a URL is this one.
    fileprivate static func origin(of url: String, is origin: String) -> Bool {
        let isSame = url.utf8.withContiguousStorageIfAvailable { url in
            origin.utf8.withContiguousStorageIfAvailable { origin in
                guard url.count >= origin.count else { return false }
                for index in origin.indices where url[index] != origin[index] { return false }
                return url.count == origin.count || endsOrigin(url[origin.count])
            }
        }
        // Text that is not in one piece is not compared: then the URL is taken apart.
        return isSame == true
    }

    private static func endsOrigin(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}
