// SPDX-License-Identifier: Apache-2.0
import FuzzSupport
import RefrainCore

@testable import RefrainHTTP

// The first line is a type, the others accept.
fuzz { start, count in
    let lines = lines(start, count)
    guard let type = lines.first.flatMap({ MediaType($0) }) else { return 0 }
    precondition(type.matches(type), "does not match itself")
    precondition(MediaType(type.essence)?.essence == type.essence, "cannot be written")
    _ = type.isAcceptable(accept: Array(lines.dropFirst()))
    return 0
}
