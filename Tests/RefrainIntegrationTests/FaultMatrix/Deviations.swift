// SPDX-License-Identifier: Apache-2.0
/// Where AsyncHTTPClient as the transport ends otherwise than libcurl: each line replaces cells of the table.
enum Deviations {
    static let text = """
        | Fault | Request | Connection | Outcome | Sends | Reason | Rules | Why |
        |---|---|---|---|---|---|---|---|
        | /gzip-bomb?bytes=10000000, /bad-gzip?kind=deflate, /bad-gzip?kind=crc, /bad-gzip?kind=magic, \
        /bad-gzip?kind=cut | GET, PUT, upload, POST, keyed POST, one-shot POST | both | 200 | 1 | succeeded | R11 | \
        The client does not undo codings unless its `decompression` is on. |
        | /bytes/20000?chunked=1&length=90000 | repeatable | both | badServerResponse | 2 | finalFailure | \
        R1 R2 R5 R8 | Its parser refuses a length beside chunks, as RFC 9112 §6.3 allows. |
        | | POST | both | badServerResponse | 1 | notReplayable | R2 | The same. |
        | | one-shot POST | both | badServerResponse | 1 | bodyNotReplayable | R4 | The same. |
        | /early-response?status=503&close=1 | repeatable | both | 503 or networkConnectionLost | 3 (1 to 3) | \
        attemptsUsedUp | R1 R2 R5 R7 R8 R12 | The next attempt may take the connection before its end is noticed. |
        | mode: garbage-on-accept | repeatable | both | badServerResponse or networkConnectionLost | 2 to 3 (0) | \
        finalFailure or attemptsUsedUp | R1 R2 R5 R8 R12 | The end of the connection may overtake the garbage. |
        | | POST | both | badServerResponse or networkConnectionLost | 1 (0) | notReplayable | R2 | The same. |
        | | one-shot POST | both | badServerResponse or networkConnectionLost | 1 (0) | \
        bodyNotReplayable or notReplayable | R2 R4 | The same. |
        | tls: expired, tls: not yet valid, tls: self-signed, tls: untrusted root | all | new | \
        serverCertificateUntrusted | 1 (0) | finalFailure | R8 | Its errors do not tell the causes apart. |
        """
}
