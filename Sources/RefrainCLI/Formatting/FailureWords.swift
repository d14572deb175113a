// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The failures in the words that people know: a phrase for each code, and the names that other programs give them.
enum FailureWords {
    /// The failure in a few words, such as `connection lost`; the code itself where there are none.
    static func text(_ code: HTTPError.Code) -> String { phrases[code] ?? code.rawValue }

    /// The failure that a word or a phrase of another program means; nil: unknown.
    ///
    /// Takes codes of Refrain, names of system errors such as `ECONNRESET`, curl's exit statuses such as `28`, and
    /// phrases such as `connection reset`.
    static func code(_ text: String) -> HTTPError.Code? {
        let folded = folded(text)
        return HTTPError.Code.allCases.first { $0.rawValue.lowercased() == folded }
            ?? known.first { $0.words.contains(folded) }?.code
            ?? phrases.first { $0.value == folded }?.key
            ?? known.first { entry in entry.words.contains { $0.contains(" ") && folded.contains($0) } }?.code
    }

    /// The words of other programs for each code, for the help.
    static let known: [(code: HTTPError.Code, words: [String])] = [
        (
            .networkConnectionLost,
            [
                "econnreset", "epipe", "econnaborted", "52", "55", "56", "18", "16", "92", "connection reset",
                "connection reset by peer", "broken pipe", "connection aborted", "empty reply",
                "empty reply from server",
                "socket hang up", "connection closed", "unexpected eof", "partial file",
            ]
        ),
        (.timedOut, ["etimedout", "28", "timeout", "time out", "timed out", "operation timed out"]),
        (
            .cannotConnectToHost,
            [
                "econnrefused", "ehostunreach", "enetunreach", "7", "connection refused", "no route to host",
                "network is unreachable",
            ]
        ),
        (
            .cannotFindHost,
            ["enotfound", "eai_noname", "6", "could not resolve host", "unknown host", "nxdomain", "no such host"]
        ),
        (.dnsLookupFailed, ["eai_again", "servfail", "temporary failure in name resolution"]),
        (.cannotFindProxy, ["5", "could not resolve proxy"]),
        (.secureConnectionFailed, ["35", "eproto", "tls handshake", "ssl connect error", "handshake failure"]),
        (.serverCertificateUntrusted, ["60", "51", "certificate verify failed", "self-signed certificate"]),
        (.httpTooManyRedirects, ["47", "too many redirects"]),
        (.cannotDecodeContentData, ["61", "bad content encoding"]),
        (.cannotWriteToFile, ["23", "enospc", "no space left on device", "write error"]),
        (.dataLengthExceedsMaximum, ["63", "file too large"]),
        (.badServerResponse, ["1", "8", "weird server reply", "protocol error", "malformed response"]),
        (.badURL, ["3", "malformed url"]),
        (.notConnectedToInternet, ["enetdown", "offline"]),
        (.cancelled, ["ecanceled", "42", "aborted"]),
    ]

    private static func folded(_ text: String) -> String {
        text.lowercased().split { $0 == " " || $0 == "_" && text.contains(" ") }.joined(separator: " ")
    }

    private static let phrases: [HTTPError.Code: String] = [
        .networkConnectionLost: "connection lost", .timedOut: "timed out",
        .cannotConnectToHost: "cannot connect", .cannotFindHost: "host not found",
        .dnsLookupFailed: "name lookup failed", .secureConnectionFailed: "TLS handshake failed",
        .cannotFindProxy: "proxy not found", .proxyRefused: "proxy refused",
        .badServerResponse: "malformed response", .cannotParseResponse: "malformed response",
        .cannotDecodeContentData: "damaged content coding", .requestNotProcessed: "not processed by the server",
        .serverCertificateUntrusted: "certificate not trusted",
        .serverCertificateHasUnknownRoot: "certificate of an unknown authority",
        .notConnectedToInternet: "no network", .resourceUnavailable: "response does not continue the download",
    ]
}
