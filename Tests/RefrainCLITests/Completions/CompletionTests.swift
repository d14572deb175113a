// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCLI

/// What a person has typed, and what the shell makes of it.
struct Typed: Sendable, CustomTestStringConvertible {
    let line: String
    /// Every candidate, sorted.
    let candidates: [String]

    var testDescription: String { line }

    /// Lines of which each shell finds the same candidates.
    static let lines = [
        Typed(line: "refrain ge", candidates: ["get"]),
        Typed(line: "refrain get --ji", candidates: ["--jitter"]),
        Typed(line: "refrain get --jitter ", candidates: ["equal", "full", "none"]),
        Typed(line: "refrain get -q --jitter e", candidates: ["equal"]),
        Typed(line: "refrain get --backoff exp", candidates: ["exponential:"]),
        Typed(line: "refrain explain --error networkC", candidates: ["networkConnectionLost"]),
        Typed(line: "refrain explain --policy al", candidates: ["alamofire"]),
        Typed(line: "refrain completions z", candidates: ["zsh"]),
        Typed(line: "refrain help de", candidates: ["demo"]),
    ]
}

@Suite("Completions", .timeLimit(.minutes(10)))
struct CompletionTests {
    @Test("every option of every command is in the script of every shell", arguments: Shell.allCases)
    func scriptsAreComplete(shell: Shell) {
        let script = Completions.script(for: shell)
        for option in CommandSpec.all.flatMap(\.options) {
            let spelling = shell == .fish ? "-l \(option.name.rawValue) " : "--\(option.name.rawValue)"
            #expect(script.contains(spelling), "\(option.name)")
            for choice in option.choices where !choice.hasSuffix(":") { #expect(script.contains(choice)) }
        }
    }

    @Test(
        "each shell that is installed reads its script without a word",
        arguments: Shell.allCases.filter { Executable.installed($0.rawValue) != nil }
    )
    func scriptsAreRead(shell: Shell) async throws {
        let program = try #require(Executable.installed(shell.rawValue))
        let script = try ScratchFile(Completions.script(for: shell))
        defer { script.remove() }
        let ended = try await Executable.run(["-n", script.path], inPlainLocale: program)
        #expect(ended.status == 0 && ended.text.isEmpty && ended.errors.isEmpty, "\(ended.errors)")
    }

    @Test(
        "bash loads the script and completes by it",
        .enabled(if: Executable.installed("bash") != nil),
        arguments: Typed.lines
    )
    func bash(typed: Typed) async throws {
        #expect(try await Self.bash(typed.line) == typed.candidates)
    }

    @Test(
        "bash completes a value after an equals sign, and files and folders",
        .enabled(if: Executable.installed("bash") != nil)
    )
    func bashSeparators() async throws {
        // In bash an equals sign is a word of its own.
        #expect(try await Self.bash("refrain get --jitter = n") == ["none"])
        #expect(try await Self.bash("refrain get --jitter =") == ["equal", "full", "none"])
        #expect(try await Self.bash("refrain get --output /etc/pass").contains("/etc/passwd"))
        #expect(try await Self.bash("refrain get --output-dir /etc/pass").contains("/etc/passwd") == false)
        #expect(try await Self.bash("refrain get --timeout ") == [])
        #expect(try await Self.bash("refrain ").contains("--version"))
    }

    @Test(
        "fish loads the script and completes by it",
        .enabled(if: Executable.installed("fish") != nil),
        arguments: Typed.lines
    )
    func fish(typed: Typed) async throws {
        let program = try #require(Executable.installed("fish"))
        let script = try ScratchFile(Completions.script(for: .fish))
        defer { script.remove() }
        let command = "source \(script.path); complete -C \(ShellText.inQuotes(typed.line))"
        let ended = try await Executable.run(["--no-config", "-c", command], inPlainLocale: program)
        #expect(ended.errors.isEmpty, "\(ended.errors)")
        #expect(ended.lines.map { String($0.prefix { $0 != "\t" }) }.sorted() == typed.candidates)
    }

    @Test(
        "zsh loads the script and completes by it",
        .enabled(if: Executable.installed("zsh") != nil),
        arguments: Typed.lines.filter { $0.candidates.count == 1 }
    )
    func zsh(typed: Typed) async throws {
        let program = try #require(Executable.installed("zsh"))
        let script = try ScratchFile(Completions.script(for: .zsh))
        let keys = try ScratchFile(Self.zshSession)
        defer {
            script.remove()
            keys.remove()
        }
        let ended = try await Executable.run(["-f", keys.path, script.path, typed.line], inPlainLocale: program)
        let completed = try #require(ended.lines.last, "\(ended.errors)")
        let candidate = try #require(typed.candidates.first)
        let typedBefore = typed.line.prefix(upTo: typed.line.lastIndex(of: " ") ?? typed.line.startIndex)
        // An option that takes a value goes on with an equals sign, another word with a space.
        #expect([" ", "=", ""].contains { completed == "\(typedBefore) \(candidate)\($0)" }, "\(completed)")
    }

    /// What bash offers for a line of words.
    private static func bash(_ line: String) async throws -> [String] {
        let program = try #require(Executable.installed("bash"))
        let script = try ScratchFile(Completions.script(for: .bash))
        defer { script.remove() }
        let typed = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let words = typed.map { ShellText.inQuotes($0) }.joined(separator: " ")
        let command = """
            set -e; source \(script.path); complete -p refrain >/dev/null
            COMP_WORDS=(\(words)); COMP_CWORD=\(typed.count - 1)
            set +e; _refrain refrain; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let ended = try await Executable.run(["--norc", "-c", command], inPlainLocale: program)
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
        return ended.lines.sorted()
    }

    /// A zsh with a terminal of its own, into which a line and a tab are typed; it prints the line that came of them.
    private static let zshSession = #"""
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "PS1=; TERM=dumb; autoload -Uz compinit; compinit -u -D; source ${(q)1}"
        zpty -w shell 'show() { zle complete-word; print -r -- "<$BUFFER>"; }; zle -N show; bindkey "^I" show'
        zpty -w shell 'print rea""dy'
        zpty -r shell seen '*ready*'
        zpty -n -w shell "$2"$'\t'
        zpty -r shell seen '*<refrain*>*'
        zpty -d shell
        print -r -- "${${seen##*<}%%>*}"
        """#
}
