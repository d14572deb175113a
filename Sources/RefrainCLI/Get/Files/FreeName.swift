// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The name of a file that replaces no other one.
///
/// It is chosen before the content arrives. If something else has the name when the content is complete, the file gets
/// another one.
final class FreeName: Sendable {
    private let chosen: Locked<String>
    private let other: @Sendable () throws -> String

    /// Makes a name.
    ///
    /// - Parameters:
    ///   - path: the path at which there is nothing.
    ///   - other: returns another such path, or throws where the file must have this one.
    init(_ path: String, other: @escaping @Sendable () throws -> String) {
        chosen = Locked(path)
        self.other = other
    }

    /// The path of the file.
    var path: String { chosen.withLock { $0 } }

    /// Gives the name to a file.
    ///
    /// - Parameter move: gives the file a path, and returns false where there is something.
    func give(_ move: (String) throws -> Bool) throws {
        while !(try move(path)) {
            let next = try other()
            chosen.withLock { $0 = next }
        }
    }
}

extension Download.FileSink {
    /// Gives the file its path, or a name that replaces no other file.
    func finish(_ freeName: FreeName?) throws {
        if let freeName { try freeName.give(finish(asNew:)) } else { try finish() }
    }
}
