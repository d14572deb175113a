#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

ProcessSetup.openStandardDescriptors()
// A reader that goes away is an error of the write that finds out, not the end of the process.
signal(SIGPIPE, SIG_IGN)
let words: [String]
do throws(UsageError) {
    words = try RawArguments.read()
} catch {
    Output.error.show("refrain: \(error)\n")
    exit(ExitStatus.usage.rawValue)
}
let endsGracefully = Program.endsGracefully(words)
if endsGracefully { Signals.block() }
// The main thread takes no part in the work: an awaiting one would let signals through that are blocked here.
let run = Task.detached { exit(await Program.run(words).rawValue) }
if endsGracefully { Signals.wait { run.cancel() } }
while true { pause() }
