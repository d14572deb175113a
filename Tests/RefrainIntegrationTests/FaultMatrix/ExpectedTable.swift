// SPDX-License-Identifier: Apache-2.0
/// What the rules make of each fault: written by hand from the rules, and compared with what happens.
///
/// A fault is a path of the fault server, `mode:` and what a server does to connections, or `tls:` and what a TLS
/// server does. A line without a fault belongs to the one above. `CODE` is the status in the path.
enum ExpectedTable {
    static let text = """
        | Fault | Request | Connection | Outcome | Sends | Reason | Rules |
        |---|---|---|---|---|---|---|
        | /status/400, /status/401, /status/403, /status/404, /status/410, /status/413, /status/418, /status/422 | \
        all | both | CODE | 1 | finalStatus | R5 R7 |
        | /status/501, /status/505, /status/506, /status/508, /status/510, /status/511 | all | both | CODE | 1 | \
        finalStatus | R7 |
        | /status/500, /status/502, /status/503, /status/504, /status/507, /status/520, /status/599 | repeatable | \
        both | CODE | 3 | attemptsUsedUp | R1 R2 R5 R7 R12 |
        | | POST | both | CODE | 1 | notReplayable | R2 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/503?retry-after=0 | repeatable, POST | both | CODE | 3 | attemptsUsedUp | R1 R2 R5 R7 R12 R15 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/503?retry-after=soon, /status/503?retry-after=-5 | repeatable | both | CODE | 3 | attemptsUsedUp | \
        R1 R2 R5 R7 R12 R15 |
        | | POST | both | CODE | 1 | notReplayable | R2 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/503?retry-after=3600, /status/503?retry-after=99999999999999999999999999999999999999999 | \
        repeatable, POST | both | retryAfterTooLong | 1 | retryAfterTooLong | R1 R2 R5 R7 R15 R18 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/503?times=1 | repeatable | both | 200 | 2 | succeeded | R1 R5 R7 |
        | | POST | both | CODE | 1 | notReplayable | R2 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/503?times=2 | repeatable | both | 200 | 3 | succeeded | R1 R5 R7 |
        | | POST | both | CODE | 1 | notReplayable | R2 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/408, /status/421, /status/425 | repeatable, POST | both | CODE | 3 | attemptsUsedUp | \
        R1 R2 R5 R7 R12 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/408?times=1, /status/421?times=1, /status/425?times=1 | repeatable, POST | both | 200 | 2 | \
        succeeded | R1 R2 R5 R7 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/409 | keyed POST | both | CODE | 3 | attemptsUsedUp | R2 R5 R7 R12 |
        | | idempotent, POST, one-shot POST | both | CODE | 1 | finalStatus | R7 |
        | /status/429 | repeatable, POST | both | CODE | 3 | attemptsUsedUp | R1 R2 R5 R7 R12 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/429?retry-after=0, /status/413?retry-after=0 | repeatable, POST | both | CODE | 3 | attemptsUsedUp | \
        R1 R2 R5 R7 R12 R15 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/429?retry-after=3600 | repeatable, POST | both | retryAfterTooLong | 1 | retryAfterTooLong | \
        R1 R2 R5 R7 R15 R18 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/403?retry-after=0 | repeatable | both | CODE | 3 | attemptsUsedUp | R1 R2 R5 R7 R12 R15 |
        | | POST | both | CODE | 1 | notReplayable | R2 |
        | | one-shot POST | both | CODE | 1 | bodyNotReplayable | R4 |
        | /status/103 | all | both | 200 | 1 | succeeded | R3 |
        | /flaky?rate=1, /outage?down=3600000 | repeatable | both | 503 | 3 | attemptsUsedUp | R1 R2 R5 R7 R12 |
        | | POST | both | 503 | 1 | notReplayable | R2 |
        | | one-shot POST | both | 503 | 1 | bodyNotReplayable | R4 |
        | /reset-before, /reset-headers, /reset-body, /flaky?rate=1&fault=reset | repeatable | both | \
        networkConnectionLost | 3 | attemptsUsedUp | R1 R2 R3 R5 R8 R10 R12 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable | R4 |
        | /close-before, /close-headers, /close-body, /flaky?rate=1&fault=close, /flaky?rate=1&fault=cut | \
        repeatable | both | networkConnectionLost | 3 | attemptsUsedUp | R1 R2 R3 R5 R8 R10 R12 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable | R4 |
        | /reset-before?unread=1, /close-before?unread=1 | repeatable | both | networkConnectionLost | 3 | \
        attemptsUsedUp | R1 R2 R3 R5 R8 R10 R12 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable or notReplayable | R2 R4 |
        | /close-chunked, /close-chunked?mid=1, /close-chunked?reset=1, /stream?chunks=3&interval=1&cut=2 | \
        repeatable | both | networkConnectionLost | 3 | attemptsUsedUp | R1 R2 R3 R5 R8 R10 R12 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable | R4 |
        | /drop-reused, /drop-reused?close=1 | all | new | 200 | 1 | succeeded | R3 |
        | | repeatable | reused | 200 | 2 | succeeded | R1 R2 R3 R5 R8 |
        | | POST | reused | networkConnectionLost | 1 | notReplayable | R2 R3 |
        | | one-shot POST | reused | networkConnectionLost | 1 | bodyNotReplayable | R3 R4 |
        | /drop-idle | all | both | 200 | 1 | succeeded | R3 |
        | /garbage, /flaky?rate=1&fault=garbage, /endless-headers, /huge-header?bytes=1000000 | repeatable | both | \
        badServerResponse | 2 | finalFailure | R1 R2 R5 R8 |
        | | POST | both | badServerResponse | 1 | notReplayable | R2 |
        | | one-shot POST | both | badServerResponse | 1 | bodyNotReplayable | R4 |
        | /bad-length?kind=conflict, /bad-length?kind=negative, /bad-length?kind=text, /bad-length?kind=overflow, \
        /bad-length?kind=both, /bad-chunk | repeatable | both | badServerResponse | 2 | finalFailure | R1 R2 R5 R8 |
        | | POST | both | badServerResponse | 1 | notReplayable | R2 |
        | | one-shot POST | both | badServerResponse | 1 | bodyNotReplayable | R4 |
        | /hang, /hang-headers, /hang-body, /hang-body?chunked=1, /hang-unread | repeatable | both | timedOut | 3 | \
        attemptsUsedUp | R1 R2 R5 R8 R12 R20 |
        | | POST | both | timedOut | 1 | notReplayable | R2 |
        | | one-shot POST | both | timedOut | 1 | bodyNotReplayable | R4 |
        | /delay?ms=100, /trickle?bytes=10&interval=5, /trickle-headers?interval=2, /stream?chunks=3&interval=5 | \
        all | both | 200 | 1 | succeeded | R3 |
        | /trickle?bytes=40&interval=50&status=503&times=1 | repeatable | both | 200 | 2 | succeeded | R1 R2 R5 R7 R28 |
        | | POST | both | 503 | 1 | notReplayable | R2 |
        | | one-shot POST | both | 503 | 1 | bodyNotReplayable | R4 |
        | /trickle?bytes=40&interval=50&status=302&url=/ok | all | both | 200 | 2 | succeeded | R26 R28 |
        | /huge, /huge?bytes=2000000&length=1 | all | both | dataLengthExceedsMaximum | 1 | finalFailure | R8 |
        | /gzip-bomb?bytes=10000000 | GET, PUT, upload, POST, keyed POST, one-shot POST | both | \
        dataLengthExceedsMaximum | 1 | finalFailure | R8 |
        | | download | both | 200 | 1 | succeeded | R11 |
        | /bad-gzip?kind=deflate, /bad-gzip?kind=crc, /bad-gzip?kind=magic, /bad-gzip?kind=cut | GET, PUT, upload, \
        POST, keyed POST, one-shot POST | both | cannotDecodeContentData | 1 | finalFailure | R8 R10 |
        | | download | both | 200 | 1 | succeeded | R11 |
        | /redirect-to?url=/ok, /redirect-to?url=/ok&status=303, /redirect-to?url=/ok&retry-after=0 | all | both | \
        200 | 2 | succeeded | R26 |
        | /redirect-to?url=/ok&status=307, /redirect-to?url=/ok&status=308 | repeatable, POST | both | 200 | 2 | \
        succeeded | R26 |
        | | one-shot POST | both | requestBodyStreamExhausted | 1 | finalFailure | R4 R8 R26 |
        | /redirect-to?url=/ok&retry-after=3600 | all | both | retryAfterTooLong | 1 | retryAfterTooLong | R15 R18 R26 |
        | /redirect-loop | all | both | httpTooManyRedirects | 21 | finalFailure | R8 R26 |
        | /redirect-loop?status=307 | repeatable, POST | both | httpTooManyRedirects | 21 | finalFailure | R8 R26 |
        | | one-shot POST | both | requestBodyStreamExhausted | 1 | finalFailure | R4 R8 R26 |
        | /redirect-no-location | all | both | 302 | 1 | succeeded | R8 R26 |
        | /rate-limited?limit=0&window=1 | repeatable, POST | both | 429 | 3 | attemptsUsedUp | R1 R2 R5 R7 R12 R15 |
        | | one-shot POST | both | 429 | 1 | bodyNotReplayable | R4 |
        | /rate-limited?limit=0&window=1&no-retry-after=1 | repeatable, POST | both | 429 | 3 | attemptsUsedUp | \
        R1 R2 R5 R7 R12 R19 |
        | | one-shot POST | both | 429 | 1 | bodyNotReplayable | R4 |
        | /auth | all | both | 401 | 1 | finalStatus | R7 |
        | /idempotent | all | both | 200 | 1 | succeeded | R5 |
        | /idempotent?fault=reset, /idempotent?fault=close | repeatable | both | 200 | 2 | succeeded | R1 R2 R5 R8 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable | R4 |
        | /early-response, /expect, /expect?ignore=1 | all | both | 200 | 1 | succeeded | R3 |
        | /early-response?status=401 | all | both | 401 | 1 | finalStatus | R5 R7 |
        | /early-response?status=413, /early-response?status=413&close=1 | all | both | 413 | 1 | finalStatus | R5 R7 |
        | /early-response?status=503, /early-response?status=503&close=1 | repeatable | both | 503 | 3 | \
        attemptsUsedUp | R1 R2 R5 R7 R12 |
        | | POST | both | 503 | 1 | notReplayable | R2 |
        | | one-shot POST | both | 503 | 1 | bodyNotReplayable or notReplayable | R2 R4 |
        | /expect?status=417 | all | both | 417 | 1 | finalStatus | R7 |
        | /bytes/20000?cut=6000 | GET, PUT, upload, keyed POST | both | networkConnectionLost | 3 | attemptsUsedUp | \
        R1 R2 R5 R8 R10 R12 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable | R4 |
        | | download | both | 206 | 4 | succeeded | R11 |
        | /bytes/20000?cut=6000&times=1 | GET, PUT, upload, keyed POST | both | 200 | 2 | succeeded | R1 R2 R5 R8 R10 |
        | | download | both | 206 | 2 | succeeded | R10 R11 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable | R4 |
        | /bytes/20000?cut=6000&times=1&etag=whole, /bytes/20000?cut=6000&times=1&not-modified=1, \
        /bytes/20000?cut=6000&times=1&multipart-range=labelled | GET, PUT, upload, keyed POST | both | 200 | 2 | \
        succeeded | R1 R2 R5 R8 R10 |
        | | download | both | 200 | 3 | succeeded | R10 R11 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable | R4 |
        | /bytes/20000?chunked=1&length=90000 | all | both | 200 | 1 | succeeded | R11 |
        | /bytes/20000?cut=6000&times=1&encoding=gzip, /bytes/20000?cut=6000&times=1&no-range=1 | repeatable | \
        both | 200 | 2 | succeeded | R1 R2 R5 R8 R10 R11 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable | R4 |
        | /bytes/20000?cut=6000&etag=weak&last-modified=none | repeatable | both | networkConnectionLost | 3 | \
        attemptsUsedUp | R1 R2 R5 R8 R10 R11 R12 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable | R4 |
        | /bytes/20000?cut=6000&no-range=1, /bytes/20000?cut=6000&etag=changing | GET, PUT, upload, keyed POST | \
        both | networkConnectionLost | 3 | attemptsUsedUp | R1 R2 R5 R8 R10 R12 |
        | | download | both | networkConnectionLost | 3 | attemptsUsedUp | R1 R8 R10 R11 R12 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable | R4 |
        | mode: refuse | all | both | cannotConnectToHost | 3 (0) | attemptsUsedUp | R1 R2 R4 R5 R8 R12 |
        | mode: reset-on-accept, mode: close-on-accept | repeatable | both | \
        networkConnectionLost or cannotConnectToHost | 3 (0) | attemptsUsedUp | R1 R2 R5 R8 R12 |
        | | POST, one-shot POST | both | networkConnectionLost or cannotConnectToHost | 1 to 3 (0) | \
        notReplayable or bodyNotReplayable or attemptsUsedUp | R2 R4 R8 R12 |
        | mode: garbage-on-accept | repeatable | both | badServerResponse | 2 (0) | finalFailure | R1 R2 R5 R8 |
        | | POST | both | badServerResponse | 1 (0) | notReplayable | R2 |
        | | one-shot POST | both | badServerResponse | 1 (0) | bodyNotReplayable or notReplayable | R2 R4 |
        | mode: hang-on-accept | repeatable | both | timedOut | 3 (0) | attemptsUsedUp | R1 R2 R5 R8 R12 R20 |
        | | POST | both | timedOut | 1 (0) | notReplayable | R2 |
        | | one-shot POST | both | timedOut | 1 (0) | bodyNotReplayable | R4 |
        | mode: never-accept | all | both | timedOut | 3 (0) | attemptsUsedUp | R1 R2 R4 R5 R8 R12 R20 |
        | tls: expired | all | new | serverCertificateHasBadDate | 1 (0) | finalFailure | R8 |
        | tls: not yet valid | all | new | serverCertificateNotYetValid | 1 (0) | finalFailure | R8 |
        | tls: self-signed, tls: untrusted root | all | new | serverCertificateHasUnknownRoot | 1 (0) | \
        finalFailure | R8 |
        | tls: wrong host | all | new | serverCertificateUntrusted | 1 (0) | finalFailure | R8 |
        | tls: plain text | all | new | secureConnectionFailed | 3 (0) | attemptsUsedUp | R1 R2 R4 R5 R8 R12 |
        | tls: end without close_notify | repeatable | both | networkConnectionLost | 3 | attemptsUsedUp | \
        R1 R2 R5 R8 R10 R12 |
        | | POST | both | networkConnectionLost | 1 | notReplayable | R2 R10 |
        | | one-shot POST | both | networkConnectionLost | 1 | bodyNotReplayable | R4 R10 |
        | tls: end with close_notify | all | both | 200 | 1 | succeeded | R10 |
        """
}
