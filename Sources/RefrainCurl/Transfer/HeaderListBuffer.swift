// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
internal import RefrainHTTP

/// The header lines of a request as a list for libcurl, in memory that is reused for each request.
///
/// libcurl stores only a pointer to the list, and reads it until the transfer has ended.
final class HeaderListBuffer {
    private var nodes: UnsafeMutablePointer<curl_slist>?
    private var nodeCapacity = 0
    private var text: UnsafeMutablePointer<CChar>?
    private var textCapacity = 0
    private var count = 0
    private var used = 0

    /// The maximum number of lines that the transport adds.
    private static let extraLines = 5

    /// The first line, or nil without lines.
    var list: UnsafeMutablePointer<curl_slist>? { count > 0 ? nodes : nil }

    /// Removes all lines, and allocates memory for these fields and this many further bytes.
    func begin(for headers: HTTPHeaders, extraBytes: Int) {
        count = 0
        used = 0
        var size = extraBytes
        for field in headers { size += field.name.utf8.count + field.value.utf8.count + 4 }
        let lines = headers.count + Self.extraLines
        if lines > nodeCapacity {
            nodes?.deallocate()
            nodeCapacity = max(16, lines)
            nodes = .allocate(capacity: nodeCapacity)
        }
        if size > textCapacity {
            text?.deallocate()
            textCapacity = max(8192, size)
            text = .allocate(capacity: textCapacity)
        }
    }

    /// Adds a field; an empty value is sent as such.
    func add(name: String, value: String) {
        guard used + name.utf8.count + value.utf8.count + 4 <= textCapacity else { return }
        beginLine()
        put(name)
        if value.isEmpty {
            put(UInt8(ascii: ";"))
        } else {
            put(UInt8(ascii: ":"))
            put(UInt8(ascii: " "))
            put(value)
        }
        endLine()
    }

    /// Prevents libcurl from adding this field itself.
    func remove(name: String) {
        beginLine()
        put(name)
        put(UInt8(ascii: ":"))
        endLine()
    }

    /// Appends other lines without copying them.
    func link(_ others: UnsafeMutablePointer<curl_slist>?) {
        guard count > 0 else { return }
        nodes?[count - 1].next = others
    }

    func free() {
        nodes?.deallocate()
        text?.deallocate()
        nodes = nil
        text = nil
    }

    private func beginLine() {
        guard let nodes, let text else { return }
        (nodes + count).initialize(to: curl_slist(data: text + used, next: nil))
        if count > 0 { nodes[count - 1].next = nodes + count }
        count += 1
    }

    private func endLine() { put(0) }

    private func put(_ string: String) {
        guard let text else { return }
        let position = UnsafeMutableRawPointer(text + used)
        let copied: Void? = string.utf8.withContiguousStorageIfAvailable { bytes in
            if let base = bytes.baseAddress { position.copyMemory(from: base, byteCount: bytes.count) }
            used += bytes.count
        }
        if copied == nil { for byte in string.utf8 { put(byte) } }
    }

    private func put(_ byte: UInt8) {
        text?[used] = CChar(bitPattern: byte)
        used += 1
    }
}
