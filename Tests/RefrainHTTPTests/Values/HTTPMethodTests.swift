// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@Suite("Methods")
struct HTTPMethodTests {
    /// The IANA registry of HTTP methods, copied by hand: name, safe, idempotent.
    private let registry: [(String, Bool, Bool)] = [
        ("ACL", false, true), ("BASELINE-CONTROL", false, true), ("BIND", false, true), ("CHECKIN", false, true),
        ("CHECKOUT", false, true), ("CONNECT", false, false), ("COPY", false, true), ("DELETE", false, true),
        ("GET", true, true), ("HEAD", true, true), ("LABEL", false, true), ("LINK", false, true),
        ("LOCK", false, false), ("MERGE", false, true), ("MKACTIVITY", false, true), ("MKCALENDAR", false, true),
        ("MKCOL", false, true), ("MKREDIRECTREF", false, true), ("MKWORKSPACE", false, true), ("MOVE", false, true),
        ("OPTIONS", true, true), ("ORDERPATCH", false, true), ("PATCH", false, false), ("POST", false, false),
        ("PRI", true, true), ("PROPFIND", true, true), ("PROPPATCH", false, true), ("PUT", false, true),
        ("QUERY", true, true), ("REBIND", false, true), ("REPORT", true, true), ("SEARCH", true, true),
        ("TRACE", true, true), ("UNBIND", false, true), ("UNCHECKOUT", false, true), ("UNLINK", false, true),
        ("UNLOCK", false, true), ("UPDATE", false, true), ("UPDATEREDIRECTREF", false, true),
        ("VERSION-CONTROL", false, true),
    ]

    @Test("R1: methods are safe and idempotent as the IANA registry says")
    func asRegistered() {
        for (name, isSafe, isIdempotent) in registry {
            let method = HTTPMethod(rawValue: name)
            #expect(method.isSafe == isSafe, "\(name)")
            #expect(method.isIdempotent == isIdempotent, "\(name)")
        }
    }

    @Test("R1: methods are case-sensitive, and unknown ones are neither safe nor idempotent")
    func unknown() {
        for name in ["get", "Get", "BREW", "", "GET "] {
            #expect(!HTTPMethod(rawValue: name).isSafe)
            #expect(!HTTPMethod(rawValue: name).isIdempotent)
        }
        #expect(("DELETE" as HTTPMethod) == .delete)
    }
}
