// SPDX-License-Identifier: Apache-2.0
import FuzzSupport
import RefrainCore

@testable import RefrainHTTP

// Every line is a date of its own.
fuzz { start, count in
    for line in lines(start, count) {
        guard let instant = HTTPDate.parse(line, now: wallClock) else { continue }
        // The year 9999 may end in a second of 60, which belongs to the year 10000 and cannot be written.
        guard instant.sinceEpoch < .seconds(253_402_300_800) else { continue }
        precondition(HTTPDate.parse(HTTPDate.format(instant), now: wallClock) == instant, "cannot be written")
    }
    return 0
}
