#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

// A reader that goes away is an error of the write that finds out, not the end of the process.
signal(SIGPIPE, SIG_IGN)
let words = Array(CommandLine.arguments.dropFirst())
let endsGracefully = Program.endsGracefully(words)
if endsGracefully { Signals.block() }
let run = Task.detached { await Program.run(words) }
if endsGracefully { Signals.watch { run.cancel() } }
exit(await run.value.rawValue)
