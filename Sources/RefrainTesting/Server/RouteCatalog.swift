// SPDX-License-Identifier: Apache-2.0
extension FaultServer {
    /// A path with built-in behaviour.
    public struct CatalogueEntry: Sendable, Equatable {
        /// The purpose of a path.
        public enum Kind: String, Sendable {
            /// Returns a success status without a fault.
            case plain
            /// Produces a fault, or returns a status other than success.
            case fault
            /// Controls the server; not logged.
            case control
        }

        /// The unique name, such as `reset-body`.
        public let name: String
        /// The path with its parameter in capitals, such as `/status/CODE`.
        public let pattern: String
        /// A valid request target, such as `/status/503?times=2`.
        public let example: String
        /// A one-line description.
        public let summary: String
        /// The names of its query items, except `times` and `key`.
        public let options: [String]
        /// Its purpose.
        public let kind: Kind
    }

    /// The catalogue as a text table.
    public static var listing: String {
        let width = catalogue.map(\.pattern.count).max() ?? 0
        var text = ""
        for entry in catalogue {
            text +=
                entry.pattern + String(repeating: " ", count: width + 2 - entry.pattern.count) + entry.summary + "\n"
            guard !entry.options.isEmpty else { continue }
            text +=
                String(repeating: " ", count: width + 2) + "options: " + entry.options.joined(separator: ", ") + "\n"
        }
        return text + "\nEvery fault takes times=N: the first N requests meet it, later ones are answered like /ok.\n"
            + "Requests are counted for each path with its query; key=ANYTHING tells callers apart.\n"
    }
}
