import Testing

@testable import RefrainCLI

@Suite("The demonstration, whose attempts have 200 ms")
struct DemoTests {
    @Test("R25: the demonstration finds everything as it must be")
    func demo() async throws {
        let ended = try await Executable.run(["demo"])
        #expect(ended.status == 0, "\(ended.text)")
        #expect(ended.text.contains("sends, as the server counted them"))
    }
}
