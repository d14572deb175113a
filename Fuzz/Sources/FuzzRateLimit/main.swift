// SPDX-License-Identifier: Apache-2.0
import FuzzSupport
import RefrainCore

@testable import RefrainHTTP

// Lines belong to the fields in turn: RateLimit, its policy, three plain ones and the Date.
fuzz { start, count in
    let names = [
        "ratelimit", "ratelimit-policy", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-limit", "date",
    ]
    var fields: [String: [String]] = [:]
    for (index, line) in lines(start, count).enumerated() {
        fields[names[index % names.count], default: []].append(line)
    }
    let readings: [RateLimiter.Fields.Reset] = [
        .automatic, .delay(.seconds), .delay(.milliseconds), .epoch(.seconds), .epoch(.milliseconds),
        .goDuration, .timestamp,
    ]
    for reset in readings {
        let reading = RateLimiter.Fields(reset: reset, structuredReset: reset)
        let limits = reading.limits(wallClock: wallClock) { fields[$0] ?? [] }
        for limit in limits {
            precondition(limit.reset.map(isDelay) ?? true && limit.window.map(isDelay) ?? true, "out of range")
            precondition(limit.remaining ?? 0 >= 0 && limit.quota ?? 0 >= 0, "negative")
            precondition(limit.retryDelay.map(isDelay) ?? true, "out of range")
        }
        precondition((RateLimit.binding(of: limits) == nil) == limits.isEmpty, "no limit binds")
    }
    return 0
}
