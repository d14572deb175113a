// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("Where things go", .timeLimit(.minutes(10)))
struct PlacesTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    /// Runs a line of the shell in which $1 is the program, $2 the address of a small content, and $3 a file.
    private func shell(_ line: String, _ file: ScratchFile) async throws -> Executable.Ended {
        let words = ["-c", line, "sh", Executable.path, server.baseURL + "/ok", file.path]
        return try await Executable.run(words, program: "/bin/sh")
    }

    @Test(
        "an output that the process was given is not emptied",
        arguments: [
            "-o /dev/stderr 2>>$3", "-o /dev/fd/2 2>>$3", "-o /dev/stdout >>$3", "-o /dev/fd/1 >>$3",
            "-q --report /dev/stderr -o /dev/null 2>>$3", "--report /dev/stdout >>$3", "--report /dev/fd/1 >>$3",
            "--timeline-svg /dev/stderr -o /dev/null 2>>$3", "-o /dev/fd/3 3>>$3", "-q --report /dev/fd/3 3>>$3 >&3",
            "-o $3.link >>$3",
        ]
    )
    func given(words: String) async throws {
        let log = try ScratchFile("from before\n")
        let ended = try await shell(
            "ln -s /dev/stdout $3.link; \"$1\" get \"$2\" \(words); s=$?; rm $3.link; exit $s",
            log
        )
        let text = String(decoding: try log.bytes(), as: UTF8.self)
        #expect(ended.status == 0 && text.hasPrefix("from before\n") && text.contains("ok"), "\(text)")
        log.remove()
    }

    @Test("a tag is written after what an output that the process was given has", arguments: ["-", "/dev/fd/1"])
    func givenForTag(name: String) async throws {
        server.on("/ok") { _ in [.respond(.init(200, headers: [("ETag", "\"tag\"")], body: "ok\n"))] }
        let log = try ScratchFile("from before\n")
        let ended = try await shell(
            "cd \"${3%/*}\" && exec \"$1\" get \"$2\" -s -o /dev/null --etag-save \(name) -w 'done\\n' >>$3",
            log
        )
        let text = String(decoding: try log.bytes(), as: UTF8.self)
        #expect(ended.status == 0 && text == "from before\ndone\n\"tag\"\n", "\(text) \(ended.errors)")
        log.remove()
    }

    @Test(
        "two outputs in one file are refused, however the file is spelled",
        arguments: [
            "-o same --report same", "-o same --report ./same", "-o same --timeline-svg $PWD/same",
            "--report same --timeline-svg sub/../same", "-o sub/link --report same",
        ]
    )
    func collisions(words: String) async throws {
        let folder = try ScratchFile()
        let ended = try await shell(
            "mkdir -p \"$3/sub\" && cd \"$3\" && ln -s ../same sub/link && exec \"$1\" get \"$2\" \(words)",
            folder
        )
        #expect(ended.status == 2 && ended.errors.contains("would both write"), "\(ended.errors)")
        #expect(folder.names == ["sub"] && server.log.isEmpty)
        folder.remove()
    }

    @Test(
        "two outputs in one descriptor that the process was given are refused",
        arguments: [
            "--timeline-svg /dev/stdout", "--report - --timeline-svg /dev/fd/1", "-o /dev/fd/3 --report /dev/fd/3 3>&2",
            "--report /dev/stderr --timeline-svg /dev/fd/2",
        ]
    )
    func givenTwice(words: String) async throws {
        let file = try ScratchFile()
        let ended = try await shell("\"$1\" get \"$2\" \(words)", file)
        #expect(ended.status == 2 && ended.errors.contains("would both write"), "\(ended.errors)")
        #expect(server.log.isEmpty && ended.output.isEmpty)
    }

    #if os(Linux)
    @Test(
        "a mount point, which cannot be replaced, is written in place when the content is complete",
        .enabled("the process may mount") { try await exits("unshare -m true") }
    )
    func mountPoint() async throws {
        let folder = try ScratchFile()
        try folder.makeFolder()
        let (source, target) = (folder.file("source"), folder.file("target"))
        try await source.overwrite("a long text from before")
        try await target.overwrite("")
        for (path, status, text) in [("/status/404", 22, "a long text from before"), ("/ok", 0, "ok\n")] {
            let line = "mount --bind \"$1\" \"$2\" && exec \"$3\" get -o \"$2\" \"$4\""
            let ended = try await Executable.run(
                ["-m", "sh", "-c", line, "sh", source.path, target.path, Executable.path, server.baseURL + path],
                program: "/usr/bin/unshare"
            )
            #expect(ended.status == status && ended.errors.contains("written in place"), "\(ended.errors)")
            #expect(String(decoding: try source.bytes(), as: UTF8.self) == text)
        }
        folder.remove()
    }

    @Test(
        "a jar that is a mount point is written in place, and stays as it was where the disk is full",
        .enabled("the process may mount") { try await exits("unshare -m true") },
        arguments: [("true", 0), ("head -c 65536 /dev/zero > rest", 1)]
    )
    func mountedJar(line: String, status: Int32) async throws {
        let cookies = (0..<100).map { ("Set-Cookie", "name-\($0)=a-value-of-the-cookie; Max-Age=1000") }
        server.on("/cookies") { _ in [.respond(.init(200, headers: cookies))] }
        let folder = try ScratchFile()
        try folder.makeFolder()
        let text =
            "mount -t tmpfs -o size=64k none \"$1\" && cd \"$1\" && echo '# old' > old && echo > jar && "
            + "mount --bind old jar; \(line) 2>&-; \"$2\" get -s -c jar \"$3\"; status=$?; cat old; exit $status"
        let ended = try await Executable.run(
            ["-m", "sh", "-c", text, "sh", folder.path, Executable.path, server.baseURL + "/cookies"],
            program: "/usr/bin/unshare"
        )
        #expect(ended.status == status, "\(ended.errors)")
        #expect(status == 0 ? ended.text.contains("name-29\ta-value") : ended.text == "# old\n", "\(ended.text)")
        folder.remove()
    }

    @Test(
        "another user's file in a sticky folder, which cannot be replaced, is refused before anything is fetched",
        .enabled("root can run the command as another user") {
            try await exits("[ $(id -u) = 0 ] && \(asAnotherUser) test -x '\(Executable.path)'")
        }
    )
    func stickyFolder() async throws {
        try await isNotReplaced(by: "\(Self.asAnotherUser) \"$1\" get \"$2\" -o 'a b'")
    }

    private static let asAnotherUser = "setpriv --reuid 65534 --clear-groups"

    /// Whether a line of the shell exits with status 0.
    private static func exits(_ line: String) async throws -> Bool {
        try await Executable.run(["-c", line], program: "/bin/sh").status == 0
    }

    private func isNotReplaced(by line: String) async throws {
        let folder = try ScratchFile()
        let ended = try await shell(
            "mkdir \"$3\" && cd \"$3\" && chmod 1777 . && echo src >src && echo old >'a b' && chmod 666 'a b'; \(line)",
            folder
        )
        #expect(ended.status == 2 && ended.errors.contains("a b"), "\(ended.errors)")
        #expect(server.log.isEmpty && folder.names == ["a b", "src"])
        folder.remove()
    }

    @Test("of an output that cannot be written any more it is said once")
    func lostReport() async throws {
        let urls = String(repeating: "\"$2\" ", count: 16)
        let ended = try await shell("exec \"$1\" get \(urls) -o /dev/null --report /dev/full", try ScratchFile())
        let complaints = ended.errors.split(separator: "\n").filter { $0.contains("/dev/full") }
        #expect(ended.status == 1 && complaints.count == 1, "\(ended.errors)")
    }
    #endif

    @Test(
        "no more is done at a time than the process may have files open for, beside those that it was started with",
        arguments: [(40, 0), (64, 0), (40, 22)]
    )
    func fewDescriptors(limit: Int, inherited: Int) async throws {
        let folder = try ScratchFile()
        // The tests' own open files are none that it is started with.
        let files =
            "for d in /proc/self/fd/*; do n=${d##*/}; [ $n -gt 2 ] 2>/dev/null && [ $n -ne 255 ] && eval \"exec $n>&-\"; "
            + "done; for n in $(seq 10 \(9 + inherited)); do eval \"exec $n</dev/null\"; done; ulimit -n \(limit); "
        let ended = try await shell(
            "exec bash -c '\(files)for i in $(seq 200); do echo \"$2?$i\"; done | "
                + "\"$1\" get -q --from - -j 100 --output-dir \"$3\"' sh \"$1\" \"$2\" \"$3\"",
            folder
        )
        #expect(ended.status == 0 && folder.files.count == 200, "\(ended.errors.prefix(500))")
        folder.remove()
    }

    private static let pem = "-----BEGIN CERTIFICATE-----\nMIIBAAAA\n-----END CERTIFICATE-----"

    @Test(
        "a report or a picture in the file of an input is refused, and the input is left as it was",
        arguments: [
            "$2 -d @in --report in", "$2 -d @in --timeline-svg ./in", "$2 -d a -d @in --report in",
            "$2 -d @sub/link --report in", "$2 -d @in --report sub/link", "--from in --report in",
            "--from sub/../in --timeline-svg $PWD/in", "$2 --cacert ca --report ca", "--from - --report in <in",
            "$2 -d @- --report in <in",
        ]
    )
    func inputs(words: String) async throws {
        let folder = try ScratchFile()
        let ended = try await shell(
            "mkdir -p \"$3/sub\" && cd \"$3\" && ln -s ../in sub/link && echo \"$2\" | tee in >copy && "
                + "echo \"\(Self.pem)\" >ca && \"$1\" get \(words); echo $?; cmp in copy && grep -c CERT ca",
            folder
        )
        #expect(ended.text == "2\n2\n" && ended.errors.contains(" reads"), "\(ended.text) \(ended.errors)")
        #expect(server.log.isEmpty)
        folder.remove()
    }

    @Test("a content in a folder replaces neither the list, nor a report, nor another request's file")
    func folderCollisions() async throws {
        let folder = try ScratchFile()
        let list = "{\\\"url\\\": \\\"$2\\\", \\\"output\\\": \\\"list\\\"}"
        let ended = try await shell(
            "mkdir \"$3\" && cd \"$3\" && echo \"\(list)\" >list && \"$1\" get --from list --output-dir .; echo $?; "
                + "\"$1\" get \"$2\" --output-dir . --report \"\(OutputNaming.tree(server.baseURL + "/ok"))\"; echo $?",
            folder
        )
        #expect(ended.text == "2\n2\n", "\(ended.text) \(ended.errors)")
        #expect(ended.errors.contains("which --from uses") && ended.errors.contains("which --report uses"))
        #expect(server.log.isEmpty && folder.files == ["list"])
        folder.remove()
    }

    @Test("an input may be replaced by a content, and be read twice", arguments: ["-o in", "--report other", ""])
    func inputsAgain(words: String) async throws {
        let file = try ScratchFile()
        let ended = try await shell(
            "mkdir -p \"$3\" && cd \"$3\" && echo \"$2\" >in && exec \"$1\" get --from in -d @in -d @in \(words)",
            file
        )
        #expect(ended.status == 0, "\(ended.errors)")
        file.remove()
    }

    @Test(
        "where nothing was done, files are as they were, and nothing was made",
        arguments: [
            "--report rep --timeline-svg /nonexistent/x.svg", "--report rep --timeline-svg sub",
            "--report new --timeline-svg /nonexistent/x.svg", "--report new/x", "--output-dir newd --timeline-svg ''",
            "--output-dir newd/a/b/ --report sub", "--output-dir newd --report newd/../sub",
            "--output-dir newd --output-dir rep/x",
            "-o f --report rep --timeline-svg ./rep", "-o /nonexistent/f --report rep",
        ]
    )
    func nothingDone(words: String) async throws {
        let folder = try ScratchFile()
        let ended = try await shell(
            "mkdir -p \"$3/sub\" && cd \"$3\" && echo keep >rep; \"$1\" get \"$2\" \(words); echo $?; cat rep",
            folder
        )
        #expect(ended.text == "2\nkeep\n", "\(ended.text) \(ended.errors)")
        #expect(folder.names == ["rep", "sub"] && server.log.isEmpty, "\(folder.names)")
        folder.remove()
    }

    @Test("a report and a picture replace those from before, also in a folder that is made for them")
    func replaced() async throws {
        let folder = try ScratchFile()
        let ended = try await shell(
            "mkdir \"$3\" && cd \"$3\" && head -c 100000 /dev/zero >rep && cp rep svg && "
                + "\"$1\" get \"$2\" -q --output-dir a/b --report rep --timeline-svg svg && wc -l <rep && tail -c 7 svg && "
                + "exec \"$1\" get \"$2\" -q --output-dir c/d --report c/d/rep",
            folder
        )
        #expect(ended.status == 0 && ended.text == "1\n</svg>\n", "\(ended.text) \(ended.errors)")
        #expect(folder.names == ["a", "c", "rep", "svg"])
        folder.remove()
    }

    @Test(
        "a password of a proxy from the environment is shown nowhere",
        arguments: [
            "http://u:SECRET@bad host:1", "u:SECRET@bad host:1", "odd://u:SECRET@127.0.0.1:1", "http://u:S'SECRET@:x",
        ]
    )
    func proxyPassword(proxy: String) async throws {
        let file = try ScratchFile()
        let ended = try await shell(
            "unset no_proxy NO_PROXY; http_proxy=\"\(proxy)\" exec \"$1\" get --attempts 1 -v --report \"$3\" "
                + "http://refrain.invalid/",
            file
        )
        let report = String(decoding: try file.bytes(), as: UTF8.self)
        #expect(ended.status == 1 && !report.isEmpty, "\(ended.errors)")
        #expect(!(ended.errors + report).contains("SECRET"), "\(ended.errors)")
        file.remove()
    }

    @Test(
        "a name as long as the file system allows can be written, whatever its letters",
        arguments: ["字", "e\u{301}", "x"]
    )
    func longName(letter: String) async throws {
        let folder = try ScratchFile()
        let name = String(repeating: letter, count: 250 / letter.utf8.count) + ".bin"
        let ended = try await shell("mkdir \"$3\" && cd \"$3\" && exec \"$1\" get \"$2\" -o \(name)", folder)
        #expect(ended.status == 0 && folder.names.map { Array($0.utf8) } == [Array(name.utf8)], "\(ended.errors)")
        folder.remove()
    }

    @Test("a link to a file that is not there yet stays a link, and the file appears where it points")
    func danglingLink() async throws {
        let folder = try ScratchFile()
        let ended = try await shell(
            "mkdir -p \"$3/sub\" && cd \"$3\" && ln -s sub/two one && ln -s three sub/two && \"$1\" get -o one \"$2\""
                + " && test -L one && test -L sub/two && cat sub/three && ln -s circle circle && \"$1\" get -o circle \"$2\"",
            folder
        )
        #expect(ended.text == "ok\n" && ended.status == 2 && ended.errors.contains("circle"), "\(ended.errors)")
        #expect(folder.names == ["circle", "one", "sub"])
        folder.remove()
    }
}
