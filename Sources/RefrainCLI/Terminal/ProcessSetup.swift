// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The descriptors and limits of the process.
enum ProcessSetup {
    /// Opens the standard descriptors that the parent process has closed.
    ///
    /// Otherwise the next file or socket would get their numbers and receive messages. Standard input is opened for
    /// writing only and standard output for reading only, so that a read and a write still fail.
    static func openStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest number that is free is this one.
            _ = open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY)
        }
    }

    /// Raises the limit of open files to the maximum; returns the limit without the files that the process was started
    /// with.
    @discardableResult
    static func raiseOpenFiles() -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        let count = Int(clamping: limit.rlim_cur)
        return count - inheritedFiles(below: count)
    }

    /// The number of inherited open files besides the standard ones, counted only if the limit is low.
    private static func inheritedFiles(below limit: Int) -> Int {
        guard limit > 3, limit <= 4096 else { return 0 }
        return (3..<limit).count { fcntl(Int32($0), F_GETFD) >= 0 }
    }
}
