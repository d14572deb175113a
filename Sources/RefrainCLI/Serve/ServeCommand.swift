// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainTesting

/// `refrain serve`: runs the fault server until it is interrupted.
struct ServeCommand {
    private let port: UInt16

    init(_ arguments: Arguments) throws(UsageError) {
        if let word = arguments.positionals.first { throw UsageError("\(Sanitized.text(word)) is not expected here") }
        guard let text = arguments.last(.port) else {
            port = 0
            return
        }
        port = UInt16(try WholeNumber.parse(text, option: "--port", in: 0...65_535))
    }

    /// Serves until the task is cancelled.
    func run() async throws -> ExitStatus {
        Signals.beginWork()
        ProcessSetup.raiseOpenFiles()
        let server: FaultServer
        do throws(FaultServer.Failure) {
            server = try FaultServer(port: port)
        } catch {
            throw UsageError("--port: \(error)")
        }
        defer { server.stop() }
        try Output.standard.write(Array(Self.listing(server).utf8))
        // A server has no end of its own: this stream has no elements, and ends with its task.
        let (signal, end) = AsyncStream<Never>.makeStream()
        for await _ in signal {}
        end.finish()
        return .success
    }

    private static func listing(_ server: FaultServer) -> String {
        var text = "\(server.baseURL)\n\n"
        let width = FaultServer.catalogue.map(\.pattern.count).max() ?? 0
        for entry in FaultServer.catalogue {
            let space = String(repeating: " ", count: width - entry.pattern.count)
            text += "  \(entry.pattern)\(space)  \(entry.summary)\n"
        }
        return text + "\nAny path takes times=N: the fault happens N times, then all is well. Stop with Ctrl-C.\n"
    }
}
