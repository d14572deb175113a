// SPDX-License-Identifier: Apache-2.0
import FuzzSupport
import RefrainCore

@testable import RefrainHTTP

fuzz { start, count in
    switch ContentRange.parse(fieldValues: lines(start, count)) {
    case .part(let first, let last, let total):
        precondition(first >= 0 && first <= last && last < (total ?? .max), "not a part of the whole")
    case .unsatisfied(let total): precondition(total >= 0, "negative")
    case nil: break
    }
    return 0
}
