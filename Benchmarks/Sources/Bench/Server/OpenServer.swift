// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A server whose responses never end: it sends their head and two bytes, and keeps the connection open.
///
/// nginx can limit the rate of a response, but not to less than a byte a second: thousands of them would be a load of
/// their own, and their heads would take minutes.
final class OpenServer {
    /// The server, `http://127.0.0.1:PORT/slow`.
    let url: String
    private let listener: Int32
    private var thread = pthread_t()

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 4096) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isListening else { throw BenchFailure("no server for open responses: \(errorText())") }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/slow"
        let context = UnsafeMutableRawPointer(bitPattern: Int(listener))
        let result = pthread_create(
            &thread,
            nil,
            { context in
                OpenServer.serve(Int32(Int(bitPattern: context)))
                return nil
            },
            context
        )
        guard result == 0 else { throw BenchFailure("no thread for open responses") }
    }

    /// Ends all responses.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        pthread_join(thread, nil)
        close(listener)
    }

    private static func serve(_ listener: Int32) {
        var connections: [Int32] = []
        var request = [UInt8](repeating: 0, count: 4096)
        let response = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n".utf8)
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { break }
            // The whole request is there, or nothing comes at all.
            if read(connection, &request, request.count) > 0 { _ = write(connection, response, response.count) }
            connections.append(connection)
        }
        for connection in connections { close(connection) }
    }
}
