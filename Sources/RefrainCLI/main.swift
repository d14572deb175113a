#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

// A reader that goes away is an error of the write that finds out, not the end of the process.
signal(SIGPIPE, SIG_IGN)
let status = await Program.run(Array(CommandLine.arguments.dropFirst()))
exit(status.rawValue)
