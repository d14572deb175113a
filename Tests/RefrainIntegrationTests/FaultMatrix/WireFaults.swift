// SPDX-License-Identifier: Apache-2.0
/// Faults that the fault server cannot show: of HTTP/2, TLS, proxies, names, and of what is sent or shown.
///
/// Each is met by a test of its own, which is named by its title; `outcome` is in short what that test expects.
struct WireFault: Sendable {
    let fault: String
    let outcome: String
    /// The section that the outcome follows from, with the rule.
    let source: String
    /// The title of the test, or its beginning.
    let test: String

    static let all: [WireFault] = [
        WireFault(
            fault: "an error with a body at a byte in 50 ms, or of 30 MB",
            outcome: "the next attempt follows within a second; the last error is read, or a failure",
            source: "RFC 9112 §9.3, R28",
            test: "R28: the next attempt does not wait for a slow body of an error, also over the only connection"
        ),
        WireFault(
            fault: "a redirect with an endless body behind its head",
            outcome: "it is followed at once",
            source: "RFC 9110 §15.4, R28",
            test: "R28: a redirect is followed whatever comes behind its head"
        ),
        WireFault(
            fault: "HTTP_1_1_REQUIRED",
            outcome: "200, over HTTP/1.1, with the second attempt",
            source: "RFC 9113 §7, R33",
            test: "R33: a server that wants HTTP/1.1 is given it with the next attempt (RFC 9113 §7)"
        ),
        WireFault(
            fault: "a name whose first answer is a dead address, and the next one good",
            outcome: "200, with the attempt after the next look-up",
            source: "RFC 1123 §2.3, R33",
            test: "R33: after a failed connect the name is looked up anew, and the new address is used"
        ),
        WireFault(
            fault: "a name with an address that does not answer",
            outcome: "200, by the other address; the silent one is tried last from then on",
            source: "RFC 1123 §2.3, R33",
            test: "R33: an address that did not answer is tried after the others from then on"
        ),
        WireFault(
            fault: "CONNECT answered 403",
            outcome: "proxyRefused, one attempt",
            source: "RFC 9110 §9.3.6, R8",
            test: "R8: a CONNECT that was refused with a final status is not sent again"
        ),
        WireFault(
            fault: "CONNECT answered 503 with Retry-After",
            outcome: "the next attempt comes after that time",
            source: "RFC 9110 §10.2.3, R15",
            test: "R15: the Retry-After of a proxy that cannot connect now is honoured"
        ),
        WireFault(
            fault: "a redirect to a host that does not answer",
            outcome: "the redirector is asked again, within the same limits",
            source: "RFC 9110 §15.4.3, R33",
            test: "R33: a redirector is asked again where no attempt could reach what it pointed to"
        ),
        WireFault(
            fault: "U+202E and other controls of direction in a Location or a URL",
            outcome: "shown as an escape",
            source: "RFC 3987 §8",
            test: "a Location and a URL cannot turn the direction of what is shown, nor hide a part of it"
        ),
        WireFault(
            fault: "HTTP/2: names in upper case, CR LF in a value, transfer-encoding, no :status",
            outcome: "badServerResponse, two attempts",
            source: "RFC 9113 §8.1.1, R8",
            test: "R8: a head that HTTP/2 forbids is garbage, and asked for once more (RFC 9113 §8.1.1)"
        ),
        WireFault(
            fault: "a content type of the caller's with CR LF in it",
            outcome: "invalidRequest, nothing is sent",
            source: "RFC 9110 §5.5, R31",
            test: "R31: a content type that no header field can have is refused, and not left out"
        ),
        WireFault(
            fault: "SIGTERM, SIGINT, SIGQUIT or a hang-up while a download runs",
            outcome: "the process ends by the signal, and no file",
            source: "R9",
            test: "R9: a signal ends a download, by that signal"
        ),
        WireFault(
            fault: "an address with a special purpose, under a policy",
            outcome: "destinationRefused, one attempt, nothing is sent",
            source: "RFC 6890 §2.2, R31",
            test: "no spelling of an address on this machine is connected to, and it is tried once"
        ),
        WireFault(
            fault: "a name that changes its answer between two look-ups, under a policy",
            outcome: "the address that is connected to is judged; there is no look-up but that of the connection",
            source: "RFC 6890 §2.2, R31",
            test: "a policy judges the one answer that is connected to"
        ),
        WireFault(
            fault: "a server that requires a certificate of the client",
            outcome: "clientCertificateRequired or clientCertificateRejected, one attempt; 200 with a good one",
            source: "RFC 8446 §4.4.2, R8",
            test: "R8: without a certificate, and with one of another authority, a request fails once"
        ),
        WireFault(
            fault: "REFUSED_STREAM, also on a reused connection",
            outcome: "requestNotProcessed: a POST is sent again, too",
            source: "RFC 9113 §8.7, R2",
            test: "R2b, R3: a stream that the server refused was not processed, and is not sent again by itself"
        ),
        WireFault(
            fault: "Content-Encoding as a list, over two lines, or folded",
            outcome: "the coding is undone, or named where it cannot be",
            source: "RFC 9110 §8.4, RFC 9112 §5.2",
            test: "a coding is undone however its field is written: as a list, over several lines, folded"
        ),
        WireFault(
            fault: "bytes beyond a response, on TCP, TLS, through proxies and tunnels, on a Unix socket",
            outcome: "the connection ends; the next request gets its own response, on another connection",
            source: "RFC 9112 §9.2, R39",
            test: "R39: bytes beyond a response end the connection, on each kind of connection"
        ),
        WireFault(
            fault: "the sizes 8g, 0x8 and the like of a chunk",
            outcome: "badServerResponse",
            source: "RFC 9112 §7.1, R10",
            test: "R10: a malformed size of a chunk is garbage, whatever digits it begins with (RFC 9112 §7.1)"
        ),
        WireFault(
            fault: "HTTP/2: RST_STREAM(NO_ERROR) right behind a complete response",
            outcome: "the response, with all of its body",
            source: "RFC 9113 §8.1, R10",
            test: "R10: a complete response with RST_STREAM(NO_ERROR) behind it is complete"
        ),
        WireFault(
            fault: "Keep-Alive: timeout=1, and a request about a second later",
            outcome: "it goes over a new connection, a POST too",
            source: "RFC 9112 §9.3, R2",
            test: "R2: a POST goes over a new connection where the server says that it closes the old one by then"
        ),
        WireFault(
            fault: "a flood without content: KeyUpdate of TLS 1.3, PING, SETTINGS, WINDOW_UPDATE and others of HTTP/2",
            outcome: "the timeout or the cancellation ends it; requests to other servers go on",
            source: "RFC 9113 §10.5, R20",
            test: "R20: a timeout ends a request to a server that floods, and requests to others go on"
        ),
        WireFault(
            fault: "a pipe or a device in place of a file of authorities or of a client's certificate",
            outcome: "InvalidArgument, nothing is sent",
            source: "R31",
            test: "R31: a pipe or a file without an end is no file of authorities, and refused at once"
        ),
        WireFault(
            fault: "a name server that fails or cannot be reached",
            outcome: "dnsLookupFailed, where a name that does not exist is cannotFindHost",
            source: "RFC 2308 §7, R8",
            test: "R8: a name server that fails has another code than a name that does not exist"
        ),
        WireFault(
            fault: "a name whose first addresses refuse",
            outcome: "200, by the first one that does not, at once",
            source: "RFC 1123 §2.3, R33",
            test: "R33: an address that refuses is followed by the next one at once, however many refuse"
        ),
        WireFault(
            fault: "an answer before the request's body was read, and no more reading",
            outcome: "the answer counts: 200, 401, 413",
            source: "RFC 9112 §9.3, RFC 9110 §9.3.4",
            test: "an upload whose source gives nothing more ends when the server has refused it, or has gone"
        ),
    ]

    /// The rows as the documentation shows them.
    static var table: String {
        let rows = all.map { "| \($0.fault) | \($0.outcome) | \($0.source) | \($0.test) |" }
        return (["| Fault | Outcome | Source | Test |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }
}
