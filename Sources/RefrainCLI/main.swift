// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

ProcessSetup.openStandardDescriptors()
// A closed pipe is an error of the write; it does not end the process.
signal(SIGPIPE, SIG_IGN)
let words: [String]
do throws(UsageError) {
    words = Program.completed(try RawArguments.read())
} catch {
    Output.error.show("refrain: \(error)\n")
    exit(ExitStatus.usage.rawValue)
}
let endsGracefully = Program.endsGracefully(words)
if endsGracefully { Signals.block() }
// The main thread does no other work: if it awaited, signals that are blocked here would be delivered.
let run = Task.detached {
    let status = await Program.run(words)
    if status.isSignal { Signals.end() }
    exit(status.rawValue)
}
if endsGracefully { Signals.wait { run.cancel() } }
while true { pause() }
