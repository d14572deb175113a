// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@testable import RefrainCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("A list of requests with bodies", .timeLimit(.minutes(10)))
struct OrderTests {
    /// What the server has done: an order is placed when its key comes for the first time.
    private struct Shop {
        var placed: [String: String] = [:]
        var requests = 0
        var downUntil = ContinuousClock.now
    }

    /// Orders that are placed once, with resets before and after, and an outage.
    private func open(_ server: FaultServer, _ shop: Locked<Shop>) {
        server.on("/orders") { request in
            let number = shop.withLock { shop in
                shop.requests += 1
                // Longer than five runs: what waits for its next attempt when one is killed has not ended that one.
                if shop.requests == 100 { shop.downUntil = .now + .seconds(1) }
                return shop.requests
            }
            if shop.withLock({ $0.downUntil > .now }) { return [.respond(.init(503))] }
            if number % 20 == 3 { return [.reset] }
            let key = request.header("Idempotency-Key") ?? "none \(number)"
            shop.withLock { $0.placed[key] = String(decoding: request.body, as: UTF8.self) }
            return number % 20 == 7 ? [.reset] : [.respond(.init(201, body: "placed"))]
        }
    }

    @Test("R5: 200 orders are placed once each, also where the command is killed ten times on the way")
    func placedOnce() async throws {
        let server = try FaultServer()
        let shop = Locked(Shop())
        open(server, shop)
        let lines = (0..<200).map {
            "{\"url\": \"\(server.baseURL)/orders\", \"method\": \"POST\", \"body\": {\"order\": \($0)}}"
        }
        let list = try ScratchFile(lines.joined(separator: "\n") + "\n")
        let words = [
            "get", "-q", "-j", "4", "--from", list.path, "-o", "/dev/null", "--no-budget", "--idempotency-key",
        ]
        for _ in 0..<10 {
            let known = shop.withLock { $0.requests }
            let running = try Executable.start(words)
            // On a busy machine longer: what five runs have only begun with is abandoned.
            for _ in 0..<50 {
                _ = await Executable.Running.onThread { poll(nil, 0, 120) }
                if shop.withLock({ $0.requests >= known + 12 }) { break }
            }
            running.signal(SIGKILL)
            _ = await running.end()
        }
        let ended = try await Executable.run(words)
        #expect(ended.status == 0, "\(ended.errors)")
        let placed = shop.withLock { $0.placed }
        #expect(
            placed.count == 200 && Set(placed.values).count == 200 && !placed.keys.contains { $0.hasPrefix("none") }
        )
        let state = list.path + Directory.stateName
        let status = try await Executable.run(["status", state]).text
        #expect(status.contains("200 done"), "\(status)")
        for ending in ["", "-wal", "-shm", "-lock"] { ScratchFile.at(state + ending).remove() }
        list.remove()
    }

    @Test("each member of a line is sent as it is written, and answers go to their files")
    func members() async throws {
        let server = try FaultServer()
        let folder = try ScratchFile()
        let body = try ScratchFile("from a file")
        let list = try ScratchFile(
            """
            {"url": "\(server.baseURL)/echo", "method": "PUT", "headers": {"X-A": "b"}, "body": {"n": 1.10, "big": 12345678901234567890}, "output": "a/one.json"}
            {"url": "\(server.baseURL)/echo", "method": "POST", "bodyFile": "\(body.path)", "output": "two.json", "key": "k1"}
            {"url": "\(server.baseURL)/echo"}

            """
        )
        let ended = try await Executable.run(["get", "--from", list.path, "--output-dir", folder.path])
        #expect(ended.status == 0, "\(ended.errors)")
        let one = String(decoding: try folder.file("a/one.json").bytes(), as: UTF8.self)
        #expect(one.contains(#""method":"PUT""#) && one.contains(#"["X-A","b"]"#))
        #expect(one.contains(#"1.10, \"big\": 12345678901234567890"#), "\(one)")
        let two = String(decoding: try folder.file("two.json").bytes(), as: UTF8.self)
        #expect(two.contains("from a file") && two.contains(#"\"k1\""#), "\(two)")
        #expect(folder.files.count == 3)
        for file in [folder, body, list] { file.remove() }
    }

    @Test("R5: a bodyFile with other bytes is another request, with another key; with the same ones it is done")
    func changedBodyFile() async throws {
        let server = try FaultServer()
        let sizes = Locked<[Int]>([])
        server.on("/orders") { request in
            sizes.withLock { $0.append(request.body.count) }
            return [.respond(.init(201, body: "placed"))]
        }
        let body = try ScratchFile("first")
        let list = try ScratchFile("{\"url\": \"\(server.baseURL)/orders\", \"bodyFile\": \"\(body.path)\"}\n")
        let state = try ScratchFile()
        let words = ["get", "--from", list.path, "--state", state.path, "-o", "/dev/null", "--idempotency-key"]
        for text in ["first", "first", "other", String(repeating: "a", count: 70_000) + "b"] {
            try await body.overwrite(text)
            let ended = try await Executable.run(words)
            #expect(ended.status == 0, "\(ended.errors)")
        }
        #expect(sizes.withLock { $0 } == [5, 5, 70_001])
        #expect(Set(server.log.compactMap { $0.header("Idempotency-Key") }).count == 3)
        for ending in ["", "-wal", "-shm", "-lock"] { ScratchFile.at(state.path + ending).remove() }
        for file in [body, list] { file.remove() }
    }

    @Test("what was printed is fetched again; an order that is done is not, and the command says so")
    func printedAgain() async throws {
        let server = try FaultServer()
        let state = try ScratchFile()
        let words = ["get", "--state", state.path, server.baseURL + "/ok"]
        let first = try await Executable.run(words)
        let second = try await Executable.run(words)
        #expect(first.status == 0 && !first.text.isEmpty && second.text == first.text, "\(second.errors)")
        let list = try ScratchFile("{\"url\": \"\(server.baseURL)/echo\", \"body\": \"x\"}\n")
        let order = ["get", "--from", list.path]
        #expect(try await Executable.run(order).text.contains("POST"))
        let again = try await Executable.run(order)
        #expect(again.status == 0 && again.text == "", "\(again.text)")
        #expect(again.errors.contains("1 of 1 were done in an earlier run and are skipped; their responses are not"))
        #expect(server.log.map(\.path) == ["/ok", "/ok", "/echo"])
        for path in [state.path, list.path + Directory.stateName] {
            for ending in ["", "-wal", "-shm", "-lock"] { ScratchFile.at(path + ending).remove() }
        }
        list.remove()
    }

    @Test(
        "a line that is no request is refused with its number, before anything is sent",
        arguments: [
            (#"{"url": 1}"#, "url"), (#"{"method": "GET"}"#, "url"), (#"{"url": "http://h/", "metod": "x"}"#, "method"),
            (#"{"url": "http://h/", "method": "A B"}"#, "method"), (#"{"url": "http://h/""#, "JSON"),
            (#"{"url": "http://h/", "url": "http://i/"}"#, "repeated"),
            (#"{"url": "http://h/", "headers": []}"#, "headers"),
            (#"{"url": "http://h/", "headers": {"A B": "c"}}"#, "headers"),
            (#"{"url": "http://h/", "key": ""}"#, "key"),
            (#"{"url": "http://h/", "body": 1, "bodyFile": "x"}"#, "bodyFile"),
            (#"{"url": "http://h/", "bodyFile": "/nonexistent"}"#, "/nonexistent"),
            (#"{"url": "http://h/", "output": ".a.csv.part"}"#, "partial files"),
            (#"{"url": "http://h/", "output": "a/.a.csv.PART.json"}"#, "partial files"),
            (#"{"url": "http://h/", "output": "../x"}"#, "output"), (#"{"url": "nonsense"}"#, "nonsense"),
        ]
    )
    func refused(line: String, culprit: String) async throws {
        let list = try ScratchFile("http://127.0.0.1:1/\n\(line)\n")
        let folder = try ScratchFile()
        let ended = try await Executable.run(["get", "--from", list.path, "--output-dir", folder.path])
        #expect(
            ended.status == 2 && ended.errors.contains("\(list.path):2: ") && ended.errors.contains(culprit),
            "\(ended.errors)"
        )
        #expect(!folder.exists)
        list.remove()
    }

    @Test("an answer is waited for, by its status and by a value in it")
    func polling() async throws {
        let server = try FaultServer()
        server.on("/job") { request in
            let state = request.occurrence < 3 ? "running" : "done"
            return [
                .respond(.init(200, body: "{\"state\": \"\(state)\", \"items\": [{\"count\": \(request.occurrence)}]}"))
            ]
        }
        let words = ["get", "--backoff", "constant:10ms"]
        let byValue = try await Executable.run(
            words + ["--until-json", ".state == \"done\"", server.baseURL + "/job"]
        )
        #expect(
            byValue.status == 0 && byValue.text.contains("done") && server.count(path: "/job") == 3,
            "\(byValue.errors)"
        )
        let pointer = ["--until-json", "/items/0/count >= 5"]
        #expect(
            try await Executable.run(words + pointer + [server.baseURL + "/job"]).text.contains(
                "\"count\": 5"
            )
        )
        let gone = ["--until", "STATUS in 404", server.baseURL + "/status/404"]
        #expect(try await Executable.run(words + gone).status == 0)
        let there = ["--until", "STATUS in 200", server.baseURL + "/status/404?times=2"]
        #expect(try await Executable.run(words + there).status == 0)
        let never = ["--attempts", "3", "--until", "STATUS in 201", server.baseURL + "/ok"]
        let ended = try await Executable.run(words + never)
        #expect(ended.status == 1 && ended.errors.contains("awaited"), "\(ended.status) \(ended.errors)")
    }

    @Test(
        "whole numbers of an answer are compared exactly, also where doubles are not told apart",
        arguments: [
            ("9007199254740993", "== 9007199254740992", false), ("9007199254740993", "> 9007199254740992", true),
            ("12345678901234567890", "== 12345678901234567891", false),
            ("-9007199254740993", "< -9007199254740992", true), ("99999999999999999", "< 100000000000000000", true),
            ("12345678901234567890", "== 12345678901234567890", true), ("1.0", "== 1", true), ("-0", "== 0", true),
        ]
    )
    func wholeNumbers(sent: String, condition: String, holds: Bool) async throws {
        let server = try FaultServer()
        server.on("/job") { _ in [.respond(.init(200, body: "{\"n\": \(sent)}"))] }
        let words = ["get", "--attempts", "1", "--until-json", ".n \(condition)", server.baseURL + "/job"]
        #expect(try await Executable.run(words).status == (holds ? 0 : 1))
    }

    @Test(
        "a condition that cannot be read is refused",
        arguments: [
            ("--until", "200"), ("--until", "STATUS in x"), ("--until-json", "state"), ("--until-json", ".a == b"),
            ("--until-json", ".items != []"), ("--until-json", ".a == {\"b\": 1}"), ("--until-json", ".a >= true"),
            ("--until-json", ".[\"a b\"] == 1"), ("--until-json", ".items[].a == 1"),
            ("--until-json", ".items | length == 1"), ("--until-json", ".items[-1] == 1"),
        ]
    )
    func conditions(option: String, text: String) async throws {
        let ended = try await Executable.run(["get", option, text, "http://127.0.0.1:1/"])
        #expect(ended.status == 2 && ended.errors.contains(option), "\(ended.errors)")
        #expect((text == "200") == ended.errors.contains("--until-json for a value"), "\(ended.errors)")
    }

    @Test("a body is refused with HEAD, and -G sends it in the query", arguments: [["-I"], ["-X", "HEAD"]])
    func bodyOfHead(option: [String]) async throws {
        let server = try FaultServer()
        let words = ["get", "-d", "a=1"] + option + [server.baseURL + "/ok"]
        let refused = try await Executable.run(words)
        #expect(refused.status == 2 && refused.errors.contains("a HEAD request has no body"), "\(refused.errors)")
        #expect(try await Executable.run(words + ["-G"]).status == 0)
        #expect(server.log.map(\.method) == ["HEAD"])
    }

    @Test("a large body that comes through a pipe is put aside, and sent again after a reset")
    func pipedUpload() async throws {
        let server = try FaultServer()
        let line = "head -c 3000000 /dev/zero | \"$1\" get -T - --idempotency-key \"$2/reset-before?times=1&put=1\""
        let ended = try await Executable.run(["-c", line, "sh", Executable.path, server.baseURL], program: "/bin/sh")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(server.log.first?.bodyLength == 3_000_000 && server.log.count == 2)
    }
}
