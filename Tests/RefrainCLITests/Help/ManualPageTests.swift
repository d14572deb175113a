// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCLI

@Suite("The manual page")
struct ManualPageTests {
    @Test("it names every command, every option and every exit status")
    func isComplete() {
        let lines = ManualPage.text.split(separator: "\n").map(String.init)
        for command in CommandSpec.all {
            #expect(lines.contains(".SS refrain \(command.name.rawValue)"))
            for option in command.groups.flatMap(\.options) {
                let name = option.name.rawValue.split(separator: "-").joined(separator: "\\-")
                #expect(lines.contains { $0.contains("\\fB\\-\\-\(name)\\fR") }, "\(option.name)")
            }
        }
        for status in ExitStatus.allCases { #expect(lines.contains("\\fB\(status.rawValue)\\fR")) }
    }

    @Test("no line of text is taken for a macro, and none is longer than mandoc likes")
    func linesAreSound() {
        let macros = [".TH ", ".SH ", ".SS ", ".PP", ".TP", ".br", ".BR "]
        for line in ManualPage.text.split(separator: "\n") {
            #expect(!line.hasPrefix(".") || macros.contains { line.hasPrefix($0) }, "\(line)")
            #expect(line.utf8.count <= 110 && line.utf8.allSatisfy { $0 < 0x80 }, "\(line)")
        }
    }

    @Test("mandoc finds nothing to complain about", .enabled(if: Executable.installed("mandoc") != nil))
    func mandocIsContent() async throws {
        let ended = try await lint("mandoc", ["-Tlint", "-Wall"])
        #expect(ended.status == 0 && ended.text.isEmpty, "\(ended.text)")
    }

    @Test("groff has no warning", .enabled(if: Executable.installed("groff") != nil))
    func groffIsContent() async throws {
        let ended = try await lint("groff", ["-man", "-ww", "-z", "-Tutf8"])
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
    }

    private func lint(_ name: String, _ arguments: [String]) async throws -> Executable.Ended {
        let page = try ScratchFile(ManualPage.text)
        defer { page.remove() }
        let program = try #require(Executable.installed(name))
        return try await Executable.run(arguments + [page.path], inPlainLocale: program)
    }
}
