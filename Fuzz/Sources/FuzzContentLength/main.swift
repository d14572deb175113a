// SPDX-License-Identifier: Apache-2.0
import FuzzSupport
import RefrainCore

@testable import RefrainHTTP

fuzz { start, count in
    let lines = lines(start, count)
    let length = ContentLength.parse(fieldValues: lines)
    if case .bytes(let bytes) = length { precondition(bytes >= 0, "negative") }
    precondition(ContentLength.parse(fieldValues: lines + lines) == length, "repetition changes it")
    return 0
}
