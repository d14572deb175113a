// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCLI

@Suite("Files that options name: what is wrong in one is named by its line")
struct BadFileTests {
    private func refusal(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "--config",
        arguments: [
            ("nope\n", "f:1: unknown option"), ("\n# x\nretry\n", "f:3: retry lacks its value"),
            ("url = \"http://h/\n", "f:1: a quotation mark is not closed"), ("config = f\n", "f:1: --config is not"),
            ("retry = 1 2\n", "f:1: there is more after the value"),
        ]
    )
    func config(text: String, message: String) {
        let refused = refusal { _ = try ConfigFile.parse(Array(text.utf8), "f", CommandSpec.get.options) }
        #expect(refused?.hasPrefix(message) == true, "\(refused ?? "taken")")
    }

    @Test("--config takes a comment behind a value")
    func comment() throws {
        #expect(try words("retry = 1 # once\n") == ["--retry=1"])
        #expect(try words("silent # no progress\n-C # on\n") == ["--silent", "--continue"])
    }

    private func words(_ text: String) throws -> [String] {
        try ConfigFile.parse(Array(text.utf8), "f", CommandSpec.get.options).words
    }

    @Test("--config takes letters together, an equals sign behind a dashed option, and a byte order mark, as curl does")
    func curlForms() throws {
        #expect(
            try words("-sS\n-XPUT\n-d =a\n-d\tb\n") == [
                "--silent", "--show-error", "--request=PUT", "--data==a", "--data=b",
            ]
        )
        #expect(try words("data = =a\r\n--data =a\r\n") == ["--data=a", "--data==a"])
        #expect(try words("\u{FEFF}url = http://h/\n") == ["http://h/"])
    }

    @Test("the letter of --config may stand after flags, and is not a part of another option's value")
    func lettersBeforeConfig() throws {
        let file = try ScratchFile("max-time = 5\n")
        let path = file.path
        for words in [["-sSK", path], ["-sSK\(path)"], ["-sS", "--config=\(path)"], ["-sS", "-K", path]] {
            let expanded = try ConfigFile.expanded(words + ["u"], options: CommandSpec.get.options)
            #expect(expanded.words == ["-sS", "--max-time=5", "u"], "\(words)")
        }
        for words in [["-so", "-K\(path)"], ["-soK", path], ["--output", "-K", path], ["-oK", path]] {
            #expect(try ConfigFile.expanded(words, options: CommandSpec.get.options).words == words)
        }
        file.remove()
    }

    @Test(
        "an option of a file that is refused is told what to use, with its line",
        arguments: [
            ("stderr = x\n", "f:1: refrain does not support --stderr; use 2>FILE"),
            ("\n-a\n", "f:2: refrain does not support -a (curl's --append)"),
            ("insecure = false\n", "f:1: insecure takes no value"),
            ("-sS http://h/\n", "f:1: show-error takes no value"),
            ("sillent\n", "f:1: unknown option \"--sillent\"; did you mean --silent?"),
        ]
    )
    func advice(text: String, message: String) {
        let refused = refusal { _ = try ConfigFile.parse(Array(text.utf8), "f", CommandSpec.get.options) }
        #expect(refused?.hasPrefix(message) == true, "\(refused ?? "taken")")
    }

    @Test("a value of a file that an option does not take is named with its line")
    func placeOfValue() async throws {
        let file = try ScratchFile("silent\nurl = http://127.0.0.1:9/\ntimeout = 5\n")
        let ended = try await Executable.run(["get", "-K", file.path])
        #expect(
            ended.status == 2 && ended.errors.contains("\"5\" has no unit") && ended.errors.contains("(\(file.path):3)")
        )
        file.remove()
    }

    @Test(
        "--netrc-file, of which no word is shown",
        arguments: [
            ("machine\n", "f:1: machine lacks its value"), ("machine h\nlogin\n", "f:2: login lacks its value"),
            ("login me\n", "f:1: login comes before any machine"),
            ("machine h\n password \"SECRET\n", "f:2: a quotation mark is not closed"),
            ("machine h login me password my SECRET\n", "f:1: there is a word that is none of machine"),
        ]
    )
    func netrc(text: String, message: String) {
        let refused = refusal { _ = try Netrc(text, name: "f") }
        #expect(refused?.hasPrefix(message) == true, "\(refused ?? "taken")")
        #expect(refused?.contains("SECRET") == false)
    }

    @Test("--netrc-file with comments, macros, accounts and quotation marks")
    func goodNetrc() throws {
        let text = """
            # all
            machine A login me account x password "a \\"b"
            macdef m
            cd x

            default login y password #z # the last
            """
        let netrc = try Netrc(text, name: "f")
        #expect(netrc.entry(for: "a") == Netrc.Entry(login: "me", password: "a \"b"))
        #expect(netrc.entry(for: "b") == Netrc.Entry(login: "y", password: "#z"))
        #expect(netrc.entry(for: "a", login: "me")?.password == "a \"b" && netrc.entry(for: "a", login: "x") == nil)
    }

    @Test("a storm that is not there, and a cookie jar that cannot be written, are named by their options")
    func missing() async throws {
        let storm = try await Executable.run(["simulate", "--storm", "/nonexistent/x"])
        #expect(storm.status == 2 && storm.errors.contains("--storm: cannot read"), "\(storm.errors)")
        for option in ["--cookie-jar", "--etag-save"] {
            let ended = try await Executable.run(["get", option, "/nonexistent/x", "http://127.0.0.1:9/"])
            #expect(ended.status == 2 && ended.errors.contains("\(option): cannot write"), "\(ended.errors)")
        }
        let isWritable = Directory.obstacle(toWritingInto: "/nonexistent/") == nil
        #expect(!isWritable && Directory.obstacle(toWritingInto: "") == nil)
    }

    @Test("a name that is too long for a file is refused before anything is sent")
    func longNames() async throws {
        let name = String(repeating: "n", count: 256)
        let ended = try await Executable.run(["get", "--attempts", "1", "-o", name, "http://127.0.0.1:9/"])
        #expect(ended.status == 2 && ended.errors.contains("File name too long"), "\(ended.errors)")
        let line = #"{"url": "http://127.0.0.1:9/", "output": "a/\#(name)"}"#
        let message = refusal { _ = try URLList.parse(Array(line.utf8), name: "f") }
        #expect(message == #"f:1: "output" has a name of more than 255 bytes"#)
    }
}
