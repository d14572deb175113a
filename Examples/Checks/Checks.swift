// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Prints what is claimed, and ends the program with status 1 where it is not so.
public func check(_ isSo: Bool, _ claim: String, file: String = #fileID, line: Int = #line) {
    print(isSo ? "✓" : "✗", claim)
    guard !isSo else { return }
    print("  \(file):\(line)")
    exit(1)
}
