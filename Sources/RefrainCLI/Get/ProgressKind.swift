/// How progress is shown.
enum ProgressKind: Sendable {
    /// A line on a terminal.
    case line
    /// One JSON object per line on standard error.
    case json
    case none

    init(_ arguments: Arguments) throws(UsageError) {
        let isQuiet = arguments.has(.quiet) || arguments.has(.silent) || arguments.has(.noProgressMeter)
        switch arguments.last(.progress) {
        case nil, "auto": self = isQuiet ? .none : .line
        case "json": self = .json
        case "none": self = .none
        case .some(let other): throw .badValue(other, of: "--progress", "is none of auto, json and none")
        }
    }
}
