// SPDX-License-Identifier: Apache-2.0
import FuzzSupport
import RefrainCore

@testable import RefrainHTTP

// The lines are the field's, and those of `Date` as well.
fuzz { start, count in
    let lines = lines(start, count)
    guard let value = RetryAfter.parse(fieldValues: lines, now: wallClock) else { return 0 }
    precondition(isDelay(value.delay(date: [], age: [], wallClock: wallClock)), "out of range")
    precondition(isDelay(value.delay(date: lines, age: [], wallClock: wallClock)), "out of range")
    precondition(RetryAfter.parse(fieldValues: lines + lines, now: wallClock) == value, "repetition changes it")
    return 0
}
