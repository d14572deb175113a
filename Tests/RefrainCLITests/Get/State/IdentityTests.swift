// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainQueue
import RefrainTesting
import Testing

@testable import RefrainCLI

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Which requests are the same to another run", .timeLimit(.minutes(10)))
struct IdentityTests {
    private let server: FaultServer
    private let folder: ScratchFile

    init() throws {
        server = try FaultServer()
        folder = try ScratchFile()
    }

    private func get(_ words: [String]) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "1", "--output-dir", folder.path] + words)
    }

    @Test(
        "fields, credentials and cookies of the command line tell requests apart, and the file is that of the last run",
        arguments: [
            [["-H", "Accept: a"], ["-H", "Accept: b"]], [["-u", "alice:x"], ["-u", "bob:x"]],
            [["--bearer", "one"], ["--bearer", "two"]], [["-b", "s=1"], ["-b", "s=2"]],
            [[], ["-A", "other"]],
            [["-H", "Authorization: one"], ["-H", "Authorization: two"]],
            [["-e", "http://a/"], ["-e", "http://b/"]],
        ]
    )
    func senders(options: [[String]]) async throws {
        server.on("/f") { _ in [.respond(.init(200, headers: [("ETag", "\"x\"")], body: "same size"))] }
        for (round, count) in [(0, 1), (0, 1), (1, 2), (1, 2), (0, 3)] {
            let ended = try await get(options[round] + [server.baseURL + "/f"])
            #expect(ended.status == 0 && server.log.count == count, "\(round) \(ended.errors)")
            #expect(folder.files.count == 1)
        }
        folder.remove()
    }

    /// A token without a signature.
    private static func token(_ claims: String) -> String {
        let text = Data(claims.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        return "eyJhbGciOiJub25lIn0." + text.filter { $0 != "=" } + ".c2lnbmVk"
    }

    @Test(
        "an order is not placed again under a renewed token of the same subject, but under that of another one",
        arguments: [
            (#"{"iss":"i","sub":"a","exp":1,"jti":"x"}"#, #"{"exp":22,"iat":7,"sub":"a","iss":"i"}"#, true),
            (#"{"sub":"a","exp":1}"#, #"{"sub":"b","exp":1}"#, false),
            (#"{"sub":"a","scope":"read"}"#, #"{"sub":"a","scope":"read write"}"#, false),
            (#"{"iss":"i","sub":"a"}"#, #"{"iss":"j","sub":"a"}"#, false),
            (#"{"sub":"a","tid":"b"}"#, #"{"sub":"a","tenant":"b"}"#, false),
            (#"{"exp":1}"#, #"{"exp":2}"#, false), (#"{"sub":"a","exp":1"#, #"{"sub":"a","exp":2"#, false),
            (#"{"sub":"","exp":1}"#, #"{"sub":"","exp":2}"#, false),
            // In Base64 for URLs these have the letters that the usual one does not have.
            (#"{"sub":">>>>","exp":1}"#, #"{"sub":">>>>","exp":2}"#, true),
            (#"{"sub":"????","exp":1}"#, #"{"sub":"????","exp":2}"#, true),
            (
                #"{"sub":"a","iat":1,"nbf":1,"auth_time":1,"nonce":"1","at_hash":"1","c_hash":"1","sid":"1","#
                    + #""session_state":"1","aio":"1","rh":"1","uti":"1","origin_jti":"1","event_id":"1"}"#,
                #"{"sub":"a","iat":2,"nbf":2,"auth_time":2,"nonce":"2","at_hash":"2","c_hash":"2","sid":"2","#
                    + #""session_state":"2","aio":"2","rh":"2","uti":"2","origin_jti":"2","event_id":"2"}"#,
                true
            ),
        ]
    )
    func renewedToken(first: String, second: String, isSame: Bool) async throws {
        let list = try ScratchFile(
            "{\"url\": \"\(server.baseURL)/ok\", \"method\": \"POST\", \"body\": \"1\"}\n"
        )
        #expect(try await get(["--from", list.path, "--bearer", Self.token(first)]).status == 0)
        #expect(try await get(["--from", list.path, "--bearer", Self.token(second)]).status == 0)
        #expect(server.log.count == (isSame ? 1 : 2))
        for (token, scheme) in [(first, "Bearer"), (second, "bearer")] {
            let field = "Authorization: \(scheme) \(Self.token(token))"
            #expect(try await get(["--from", list.path, "-H", field]).status == 0)
        }
        #expect(server.log.count == (isSame ? 2 : 4))
        folder.remove()
    }

    @Test("a value that is not a token with a subject counts as it is")
    func otherValues() {
        let token = Self.token(#"{"sub":"a","exp":1}"#)
        let parts = token.split(separator: ".")
        #expect(Credentials.identity(ofAuthorization: "Bearer " + token) == #"token sub="a""#)
        for value in [
            "Basic \(token)", "Bearer \(token) x", "Bearer", "", "Bearer \(parts[0]).\(parts[1])", "Bearer \(token).x",
            "Bearer " + Self.token(#"{"sub":1,"exp":1}"#), "Bearer " + Self.token(#"["sub"]"#), "Bearer a.b.c",
        ] {
            #expect(Credentials.identity(ofAuthorization: value) == value)
        }
    }

    @Test("the password of a user, a condition and the boundary of a form change no request")
    func sameSender() async throws {
        for words in [
            ["-u", "alice:x"], ["-u", "alice:y"], ["-u", "alice:z", "-z", "2020-01-01 00:00:00"],
        ] {
            #expect(try await get(words + [server.baseURL + "/ok"]).status == 0)
        }
        #expect(server.log.count == 1)
        for _ in 0..<2 {
            #expect(
                try await get(["-F", "a=b", "--idempotency-key", server.baseURL + "/echo"]).status == 0
            )
        }
        #expect(server.log.count == 2)
        folder.remove()
    }

    @Test(
        "an order of another user is another order, and one that an earlier version has done is done"
    )
    func orders() async throws {
        let list = try ScratchFile(
            "{\"url\": \"\(server.baseURL)/ok\", \"method\": \"POST\", \"body\": \"1\"}\n"
        )
        let words = ["--from", list.path, "-H", "X-User: 1"]
        #expect(try await get(words).status == 0)
        #expect(try await get(["--from", list.path, "-H", "X-User: 2"]).status == 0)
        #expect(server.log.count == 2)
        let state = Directory.path(folder.path, Directory.stateName)
        let old = ListEntry.identity(
            method: "POST",
            url: server.baseURL + "/ok",
            content: Array("1".utf8)
        )
        try EarlierTables.write(state)
        try Database(path: state).run(
            "DELETE FROM requests WHERE identity NOT IN (SELECT identity FROM requests LIMIT 1);"
                + "UPDATE requests SET identity = '\(old)'; ALTER TABLE requests DROP COLUMN begun;"
                + "ALTER TABLE requests DROP COLUMN isOld"
        )
        #expect(try await get(words).errors.contains("1 of 1 were done"))
        #expect(server.log.count == 2)
        list.remove()
        folder.remove()
    }

    @Test(
        "spellings of one URL are one request",
        arguments: [
            ("http://h:80/x", "http://h/x"), ("HTTP://H/x", "http://h/x"),
            ("https://h:443/x?a=B", "https://h/x?a=B"),
            ("http://h", "http://h/"), ("http://h?q", "http://h/?q"), ("http://h:/x", "http://h/x"),
            ("http://[::1]:80/X", "http://[::1]/X"),
        ]
    )
    func spellings(one: String, other: String) {
        #expect(SanitizedURL.canonical(one) == other && SanitizedURL.canonical(other) == other)
    }

    @Test(
        "other ports, schemes and paths are other requests",
        arguments: ["http://h:443/x", "https://h:80/x", "http://h/X"]
    )
    func others(url: String) {
        #expect(SanitizedURL.canonical(url) == url)
    }

    @Test("a list with two spellings of a URL fetches it once")
    func listed() async throws {
        let other = server.baseURL.replacing("http://", with: "HTTP://")
        #expect(try await get([server.baseURL + "/ok", other + "/ok"]).status == 0)
        #expect(server.log.count == 1)
        folder.remove()
    }

    // MARK: Signatures

    /// A content that is cut in its middle once.
    private func serveCut() {
        let isCut = Locked(true)
        server.on("/obj") { request in
            let cut = isCut.withLock { isCut in
                defer { isCut = false }
                return isCut
            }
            let first =
                request.header("Range").flatMap { Int($0.dropFirst(6).prefix { $0.isNumber }) } ?? 0
            var headers = [("ETag", "\"v1\""), ("Content-Length", "\(1_000_000 - first)")]
            if first > 0 { headers.append(("Content-Range", "bytes \(first)-999999/1000000")) }
            let body = [UInt8](repeating: 7, count: cut ? 600_000 : 1_000_000 - first)
            return [.head(.init(first > 0 ? 206 : 200, headers: headers)), .send(body)]
                + (cut ? [.close] : [])
        }
    }

    @Test(
        "R11: a partial file goes on at a URL with another signature, alone and in a list",
        arguments: [
            ("X-Amz-Date=1&X-Amz-Signature=a", "X-Amz-Date=2&X-Amz-Signature=b", [], true),
            ("id=7&se=1&sig=a", "id=7&se=2&sig=b", [], true),
            ("id=7&se=1&sig=a", "id=8&se=2&sig=b", [], false),
            ("token=a&n=1", "token=b&n=1", ["--ignore-query", "Token,x"], true),
            ("token=a&n=1", "token=b&n=1", [], false),
            ("token=a&n=1", "token=b&n=2", ["--ignore-query", "token"], false),
        ] as [(String, String, [String], Bool)]
    )
    func signatures(first: String, second: String, options: [String], goesOn: Bool) async throws {
        for isList in [false, true] {
            try folder.makeFolder()
            serveCut()
            let before = server.log.count
            let to = isList ? ["--output-dir", folder.path] : ["-C", "-o", folder.file("out").path]
            for query in [first, second] {
                _ = try await Executable.run(
                    ["get", "--attempts", "1"] + options + to + ["\(server.baseURL)/obj?\(query)"]
                )
            }
            let ranges = server.log[before...].map { $0.header("Range") }
            #expect(ranges == [nil, goesOn ? "bytes=600000-" : nil], "\(isList)")
            folder.remove()
        }
    }

    @Test("an object that is done is not fetched again by another signature")
    func doneObject() async throws {
        for signature in ["a", "b"] {
            #expect(try await get(["\(server.baseURL)/ok?n=1&X-Goog-Signature=\(signature)"]).status == 0)
        }
        #expect(
            server.log.count == 1 && folder.files.count == 1 && !folder.files[0].contains("ignature")
        )
        folder.remove()
    }
}
