internal import Refrain

/// The rules in a few words each, for `refrain explain`; `Documentation/Rules.md` has the whole text.
enum RuleText {
    /// The words of a rule by its name, such as `R7`.
    static func words(_ name: String) -> String { words[name] ?? "see Documentation/Rules.md" }

    private static let words = [
        "R1": "a safe or idempotent method may be sent again after any transient outcome",
        "R2":
            "any other method is sent again only where it cannot have been processed, with a key, or by leave of the caller",
        "R3": "one attempt is one send, and each is recorded",
        "R4": "a body that cannot be replayed is sent at most once",
        "R5": "an idempotency key makes a request safe to send again; it is the same on every attempt",
        "R6": "each attempt is made from the original request",
        "R7": "408, 421, 425, 429 and most of 5xx are transient; other statuses are final",
        "R8": "transport failures are transient, but those that another attempt cannot mend",
        "R9": "a cancelled request is never sent again",
        "R10": "a response that was cut short is a failure",
        "R11": "a download goes on where it was cut, if the rest is known to belong to it",
        "R12": "the delays and the number of attempts are the schedule's",
        "R13": "no delay exceeds the schedule's cap",
        "R14": "delays are spread at random, so that requests do not wait in lock-step",
        "R15": "Retry-After is honoured",
        "R16": "a date is read against the response's own Date",
        "R17": "of the server's delay and the schedule's the longer one counts",
        "R18": "a server's delay that is too long ends the request, with the date to come back at",
        "R19": "rate limit fields are read where they were configured",
        "R20": "no delay passes the timeout of the call",
        "R21": "delays are measured on a monotonic clock",
        "R22": "retries draw on a budget for each origin",
        "R23": "retries, resumptions and hedges draw on the same budget",
        "R24": "retries do not multiply: one loop makes them",
        "R25": "a server that fails everything gets little more than the requests that were made",
        "R26": "redirects are followed up to 20 times, and credentials stay with their origin",
        "R27": "a 401 refreshes the credential once for all requests that wait",
        "R28": "the rest of a discarded response is drained or closed",
        "R29": "every attempt is on record",
        "R30": "a request completes exactly once",
        "R31": "nothing that a server or a caller passes ends the process",
        "R32": "overload is answered with fewer retries, and with longer delays where the policy has them",
        "R33": "a failed connect looks the name up again",
    ]
}
