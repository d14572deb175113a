// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
public import RefrainHTTP

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension CurlLoader {
    /// The settings of connections that the command line can change, in libcurl's own forms.
    package struct ConnectionOverrides: Sendable, Equatable {
        /// Addresses of hosts: `HOST:PORT:ADDRESS`.
        package var resolve: [String] = []
        /// Other hosts and ports to connect to: `HOST:PORT:HOST:PORT`.
        package var connectTo: [String] = []
        /// The Unix domain socket of connections; nil: none.
        package var unixSocket: String?
        /// The family of addresses: 4 or 6; nil: both.
        package var addressFamily: Int?
        /// The maximum rate at which a transfer receives and sends, in bytes per second; nil: no limit.
        package var bytesPerSecond: Int?
        /// The minimum rate of a response, below which the attempt ends; nil: none, only the idle timeout.
        package var minimumSpeed: MinimumSpeed?
        /// Settings whose values are texts.
        package var texts: [TextOption: String] = [:]
        /// The keys of which a server must have one: a file, or hashes in libcurl's form; nil: any.
        package var pinnedKeys: String?
        /// A folder of further trusted authorities; nil: none.
        package var authoritiesFolder: String?
        /// The oldest and the newest version of TLS; nil: the TLS library's default.
        package var oldestTLS: TLSVersion?
        package var newestTLS: TLSVersion?
        /// The maximum number of bytes received at a time; nil: the loader's default.
        package var receiveBuffer: Int?
        /// Header fields that are not added to requests: `User-Agent`, `Accept` and `Content-Type`.
        package var omittedFields: [String] = []

        /// No setting differs from libcurl's default.
        package init() {}
    }
}

extension CurlLoader.ConnectionOverrides {
    /// A minimum rate, and for how long the rate may be below it.
    package struct MinimumSpeed: Sendable, Equatable {
        package let bytesPerSecond: Int
        package let seconds: Int

        package init(bytesPerSecond: Int, seconds: Int) {
            (self.bytesPerSecond, self.seconds) = (bytesPerSecond, seconds)
        }
    }

    /// A version of TLS.
    package enum TLSVersion: Int, Sendable {
        case any, v10, v11, v12, v13
    }

    /// A setting whose value is a text, by the name of curl's option.
    package enum TextOption: Sendable {
        case crlfile, ciphers, tls13Ciphers, curves, interface, proxyUser, noproxy, proxyCacert

        var option: CURLoption {
            switch self {
            case .crlfile: CURLOPT_CRLFILE
            case .ciphers: CURLOPT_SSL_CIPHER_LIST
            case .tls13Ciphers: CURLOPT_TLS13_CIPHERS
            case .curves: CURLOPT_SSL_EC_CURVES
            case .interface: CURLOPT_INTERFACE
            case .proxyUser: CURLOPT_PROXYUSERPWD
            case .noproxy: CURLOPT_NOPROXY
            case .proxyCacert: CURLOPT_PROXY_CAINFO
            }
        }
    }
}

/// The lists that libcurl reads during the lifetime of a handle.
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
    /// The files that the TLS library reads; one that does not exist is reported by libcurl.
    var files: [String] {
        var files = [TextOption.crlfile, .proxyCacert].compactMap { texts[$0] }
        if let pinnedKeys, !pinnedKeys.hasPrefix("sha256//") { files.append(pinnedKeys) }
        return files.filter { access($0, F_OK) == 0 }
    }

    /// Applies the settings to a new handle.
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
        if let minimumSpeed {
            // A rate limit makes libcurl pause, which must not count as slowness.
            let rate = bytesPerSecond.map { max(1, $0 / 2) } ?? .max
            let pause = bytesPerSecond.map { 2 + longestBurst / max(1, $0) } ?? 0
            refrain_set_long(easy, CURLOPT_LOW_SPEED_LIMIT, min(minimumSpeed.bytesPerSecond, rate))
            refrain_set_long(easy, CURLOPT_LOW_SPEED_TIME, max(minimumSpeed.seconds, pause))
        }
        if oldestTLS != nil || newestTLS != nil {
            refrain_set_long(easy, CURLOPT_SSLVERSION, Self.number(oldestTLS) | Self.number(newestTLS) << 16)
        }
        for (name, text) in texts { refrain_set_pointer(easy, name.option, text) }
        if let size = bufferSize { refrain_set_long(easy, CURLOPT_BUFFERSIZE, size) }
    }

    /// The size of the buffer that libcurl allocates for each transfer, where no setting changes it.
    ///
    /// While a reader is slow a stream stores the decoded content of one buffer: with gzip at most 33 MB, with several
    /// codings six times as much.
    static let standardBufferSize = 32_768

    /// The maximum number of bytes received at a time; nil: the loader's default.
    ///
    /// With a rate limit at most a fiftieth of a second's, so that a burst is two seconds' at most where it can be.
    var bufferSize: Int? {
        guard let bytesPerSecond else { return receiveBuffer }
        return min(receiveBuffer ?? Self.standardBufferSize, max(1024, bytesPerSecond / 50))
    }

    /// How many bytes libcurl may receive before it pauses until the rate is met again: it reads up to a hundred times
    /// in a row, and delivers what TLS has decrypted.
    var longestBurst: Int { max(16_384, 100 * (bufferSize ?? Self.standardBufferSize)) }

    /// A version as libcurl numbers it, which has the same numbers for the newest one, 16 bits further up.
    private static func number(_ version: TLSVersion?) -> Int {
        switch version {
        case nil: 0
        case .any: Int(CURL_SSLVERSION_TLSv1)
        case .v10: Int(CURL_SSLVERSION_TLSv1_0)
        case .v11: Int(CURL_SSLVERSION_TLSv1_1)
        case .v12: Int(CURL_SSLVERSION_TLSv1_2)
        case .v13: Int(CURL_SSLVERSION_TLSv1_3)
        }
    }
}

/// Dates in the forms that the command line of curl accepts, such as `2026-01-31 10:00 +0100`.
public enum CurlDate {
    /// Parses a date in any of the forms that `curl_getdate` reads; returns nil for other texts.
    ///
    /// It is in UTC if it names no zone.
    public static func parse(_ text: String) -> WallClock.Instant? {
        let seconds = curl_getdate(text, nil)
        return seconds == -1 ? nil : WallClock.Instant(sinceEpoch: .seconds(seconds))
    }
}
