// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainTesting

extension Scenario {
    /// Every kind of fault, from answers over broken connections to limits.
    static let all: [Scenario] = answers + connections + timings + unsafe + downloads + redirects + limits

    private static let answers = [
        Scenario(
            title: "503, twice",
            path: "/status/503?times=2",
            ending: .status(200),
            sends: 3,
            reason: .transientStatus
        ),
        Scenario(
            title: "503 that asks for a second of rest",
            path: "/status/503?times=1&retry-after=1",
            ending: .status(200),
            sends: 2,
            reason: .transientStatus,
            atLeast: .seconds(1)
        ),
        Scenario(
            title: "503 that asks for an hour: too long, so the call ends at once",
            path: "/status/503?retry-after=3600",
            ending: .failure(.retryAfterTooLong),
            sends: 1
        ),
        Scenario(title: "404: final", path: "/status/404", ending: .status(404), sends: 1),
        Scenario(title: "garbage instead of HTTP", path: "/garbage?times=1", ending: .status(200), sends: 2),
        Scenario(title: "garbage, again and again", path: "/garbage", ending: .failure(.badServerResponse), sends: 2),
    ]

    private static let connections = [
        Scenario(
            title: "connection refused",
            path: "/ok",
            ending: .failure(.cannotConnectToHost),
            sends: 0,
            reason: .transientFailure,
            mode: .refuse
        ),
        Scenario(title: "reset before the answer", path: "/reset-before?times=1", ending: .status(200), sends: 2),
        Scenario(title: "reset within the head", path: "/reset-headers?times=1", ending: .status(200), sends: 2),
        Scenario(title: "closed within the head", path: "/close-headers?times=1", ending: .status(200), sends: 2),
        Scenario(title: "closed within the body", path: "/close-body?times=1", ending: .status(200), sends: 2),
        Scenario(title: "chunks without an end", path: "/close-chunked?times=1", ending: .status(200), sends: 2),
        Scenario(
            title: "reset on a connection that served before",
            path: "/drop-reused",
            before: "/ok",
            ending: .status(200),
            sends: 2,
            reason: .transientFailure
        ),
    ]

    private static let timings = [
        Scenario(
            title: "no answer, with 200 ms for an attempt",
            path: "/hang?times=1",
            prepare: { $0.attemptTimeout = .milliseconds(200) },
            ending: .status(200),
            sends: 2,
            atLeast: .milliseconds(200)
        ),
        Scenario(
            title: "half a body, then silence",
            path: "/hang-body?times=1",
            prepare: { $0.attemptTimeout = .milliseconds(200) },
            ending: .status(200),
            sends: 2,
            atLeast: .milliseconds(200)
        ),
        Scenario(
            title: "no answer, with 300 ms for everything",
            path: "/hang",
            prepare: { $0.timeout = .milliseconds(300) },
            ending: .failure(.deadlineExceeded),
            sends: 1,
            atLeast: .milliseconds(300)
        ),
    ]

    private static let unsafe = [
        Scenario(
            title: "POST, reset: it may have been done, so it is not repeated",
            path: "/reset-before?post=1",
            method: .post,
            body: .text("order"),
            ending: .failure(.networkConnectionLost),
            sends: 1
        ),
        Scenario(
            title: "POST with a key, its answer lost: repeated, and done once",
            path: "/idempotent?fault=reset&times=1",
            method: .post,
            body: .text("order"),
            prepare: { $0.idempotencyKey = .generated },
            ending: .status(200),
            sends: 2,
            sharesKey: true
        ),
        Scenario(
            title: "PUT, reset: idempotent, so it is repeated",
            path: "/reset-before?times=1&put=1",
            method: .put,
            body: .text("state"),
            ending: .status(200),
            sends: 2
        ),
    ]

    private static let downloads = [
        Scenario(
            title: "download cut twice: it goes on where it stopped",
            path: "/bytes/300000?cut=100000",
            ending: .status(206),
            sends: 3,
            reason: .resumed,
            download: 300_000
        )
    ]

    private static let redirects = [
        Scenario(title: "three redirects", path: "/redirect/3", ending: .status(200), sends: 4, reason: .redirected),
        Scenario(
            title: "a redirect to itself",
            path: "/redirect-loop",
            ending: .failure(.httpTooManyRedirects),
            sends: 21,
            reason: .redirected
        ),
    ]

    private static let limits = [
        Scenario(
            title: "10 MB in a small gzip, with 1 MB allowed",
            path: "/gzip-bomb?bytes=10000000",
            prepare: { $0.maximumBodySize = 1_000_000 },
            ending: .failure(.dataLengthExceedsMaximum),
            sends: 1
        ),
        Scenario(title: "a head without an end", path: "/endless-headers?times=1", ending: .status(200), sends: 2),
    ]
}
