// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the system's own `gzip` makes of a file; `nil` if it refuses it.
func gunzip(_ bytes: [UInt8]) -> [UInt8]? {
    var template = Array("/tmp/refrain-gzip-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return nil }
    let path = String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { unlink(path) }
    var written = 0
    while written < bytes.count {
        let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        written += count
    }
    close(descriptor)
    guard let pipe = popen("gzip -dc < \(path) 2>/dev/null", "r") else { return nil }
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
        let count = fread(&chunk, 1, chunk.count, pipe)
        if count == 0 { break }
        output += chunk[..<count]
    }
    return pclose(pipe) == 0 ? output : nil
}
