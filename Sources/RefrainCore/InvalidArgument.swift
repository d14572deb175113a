// SPDX-License-Identifier: Apache-2.0
/// A value that was refused where it was given.
public struct InvalidArgument: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the argument, as the called function spells it.
    public let argument: String
    /// The value that was given, as text.
    public let value: String
    /// What would have been accepted, in words that complete "must be …".
    public let expected: String

    /// Describes a refusal.
    public init(_ argument: String, is value: some Sendable, expected: String) {
        self.argument = argument
        self.value = "\(value)"
        self.expected = expected
    }

    /// One sentence that names the argument, the value and what was expected.
    public var description: String { "\(argument) is \(value), but must be \(expected)" }
}
