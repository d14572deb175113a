extension FaultServer {
    /// A path that is scripted by URL.
    public struct CatalogueEntry: Sendable, Equatable {
        /// What a path is for.
        public enum Kind: String, Sendable {
            /// It answers well.
            case plain
            /// It misbehaves, or answers with a status that is no success.
            case fault
            /// It serves the server itself and is not logged.
            case control
        }

        /// The name, unique in the catalogue: `reset-body`.
        public let name: String
        /// The path with its variable part in capitals: `/status/CODE`.
        public let pattern: String
        /// A request target that works as it stands: `/status/503?times=2`.
        public let example: String
        /// One line that says what it does.
        public let summary: String
        /// The names of the query items that it knows, `times` and `key` aside.
        public let options: [String]
        /// What it is for.
        public let kind: Kind
    }

    /// The catalogue as a table for people.
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
