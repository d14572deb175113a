/// A shell that can be taught to complete.
enum Shell: String, Sendable, CaseIterable {
    case bash
    case zsh
    case fish
}
