/// The commands of `refrain`.
enum CommandName: String, Sendable, CaseIterable {
    case get
    case explain
    case status
    case serve
    case demo
    case simulate
    case completions
    case help
}
