// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A user that the modes of files hold off, since they do not do so for root.
enum AnotherUser {
    /// Runs code without root's access to files.
    static func run<Value>(_ body: () throws -> Value) throws -> Value {
        #if os(Linux)
        guard geteuid() == 0 else { return try body() }
        // Of this thread alone; the header of this call is in no module.
        typealias SetUser = @convention(c) (uid_t) -> CInt
        guard let symbol = dlsym(nil, "setfsuid") else { return try body() }
        let setUser = unsafeBitCast(symbol, to: SetUser.self)
        _ = setUser(65534)
        defer { _ = setUser(0) }
        #endif
        return try body()
    }
}
