internal import CurlShim

extension CurlLoader {
    /// How connections are made where the command line says so; libcurl's own settings, and their forms.
    package struct ConnectionOverrides: Sendable, Equatable {
        /// Addresses of hosts: `HOST:PORT:ADDRESS`.
        package var resolve: [String] = []
        /// Other places to connect to: `HOST:PORT:HOST:PORT`.
        package var connectTo: [String] = []
        /// The socket of the file system that connections go by.
        package var unixSocket: String?
        /// The family of addresses: 4 or 6; nil: both.
        package var addressFamily: Int?
        /// The bytes per second that a transfer may receive, and send; nil: no limit.
        package var bytesPerSecond: Int?
        /// How many bytes are received at a time at most.
        package var receiveBuffer: Int?
        /// Header fields that requests do not carry, although they would be added: `User-Agent`, `Accept` and
        /// `Content-Type`.
        package var omittedFields: [String] = []

        /// Nothing differs from what libcurl does by itself.
        package init() {}
    }
}

/// The lists that libcurl reads while a handle lives.
final class OverrideLists {
    let resolve: UnsafeMutablePointer<curl_slist>?
    let connectTo: UnsafeMutablePointer<curl_slist>?

    init(_ overrides: CurlLoader.ConnectionOverrides) {
        resolve = Self.list(overrides.resolve)
        connectTo = Self.list(overrides.connectTo)
    }

    deinit {
        curl_slist_free_all(resolve)
        curl_slist_free_all(connectTo)
    }

    private static func list(_ items: [String]) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        for item in items { list = curl_slist_append(list, item) ?? list }
        return list
    }
}

extension CurlLoader.ConnectionOverrides {
    /// Sets a new handle up.
    func apply(to easy: UnsafeMutableRawPointer, _ lists: OverrideLists) {
        if let list = lists.resolve { refrain_set_pointer(easy, CURLOPT_RESOLVE, list) }
        if let list = lists.connectTo { refrain_set_pointer(easy, CURLOPT_CONNECT_TO, list) }
        if let unixSocket { refrain_set_pointer(easy, CURLOPT_UNIX_SOCKET_PATH, unixSocket) }
        if let addressFamily {
            let family = addressFamily == 6 ? CURL_IPRESOLVE_V6 : CURL_IPRESOLVE_V4
            refrain_set_long(easy, CURLOPT_IPRESOLVE, Int(family))
        }
        if let bytesPerSecond {
            refrain_set_offset(easy, CURLOPT_MAX_RECV_SPEED_LARGE, Int64(bytesPerSecond))
            refrain_set_offset(easy, CURLOPT_MAX_SEND_SPEED_LARGE, Int64(bytesPerSecond))
        }
        if let receiveBuffer { refrain_set_long(easy, CURLOPT_BUFFERSIZE, receiveBuffer) }
    }
}
