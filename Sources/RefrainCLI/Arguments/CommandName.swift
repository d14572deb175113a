/// The commands of `refrain`.
enum CommandName: String, Sendable, CaseIterable {
    case get
    case explain
    case serve
    case demo
    case completions
    case help
}
