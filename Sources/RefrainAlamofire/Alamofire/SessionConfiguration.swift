// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
internal import Foundation
#endif

/// The settings of a session's transport, under the names of `URLSessionConfiguration`.
///
/// ```swift
/// let configuration = SessionConfiguration.af.default
/// configuration.timeoutIntervalForRequest = 30
/// let session = Session(configuration: configuration)
/// ```
///
/// A session reads it once, when it is made. What it does not have is in the configurations of the transports:
/// `CurlLoader.Configuration`, and `URLSessionConfiguration` on Apple platforms.
public final class SessionConfiguration {
    /// The header fields of requests that do not have them.
    ///
    /// Defaults to none: the transport's own are sent.
    public var headers: HTTPHeaders = [:]
    /// The longest wait for the first byte and for each further one, in seconds.
    ///
    /// Defaults to nil: the transport's own.
    public var timeoutIntervalForRequest: Double?
    /// The limit of each attempt, in seconds.
    ///
    /// Defaults to nil: none.
    public var timeoutIntervalForResource: Double?
    /// How many connections to one origin there may be at a time; from 1 to 65,536, further values are clamped.
    ///
    /// Defaults to nil: the transport's own.
    public var httpMaximumConnectionsPerHost: Int?

    /// Makes a configuration with the transport's own settings.
    public init() {}

    /// A configuration with the transport's own settings.
    public static var `default`: SessionConfiguration { SessionConfiguration() }
    /// As ``default``: neither keeps cookies, credentials or responses.
    public static var ephemeral: SessionConfiguration { SessionConfiguration() }
    /// The configurations with the fields of `HTTPHeaders.default`.
    public static var af: Defaults.Type { Defaults.self }

    /// The configurations with the fields of `HTTPHeaders.default`.
    public enum Defaults {
        /// A configuration with the fields of `HTTPHeaders.default`.
        public static var `default`: SessionConfiguration {
            let configuration = SessionConfiguration()
            configuration.headers = .default
            return configuration
        }
        /// As ``default``.
        public static var ephemeral: SessionConfiguration { `default` }
    }

    /// The header fields by name.
    public var httpAdditionalHeaders: [String: String]? {
        get { headers.dictionary }
        set { headers = HTTPHeaders(newValue ?? [:]) }
    }

    /// The platform's transport with these settings.
    var loader: any HTTPLoader {
        let idle = timeoutIntervalForRequest.map { Duration.delay(seconds: $0) }
        let total = timeoutIntervalForResource.map { Duration.delay(seconds: $0) }
        return Timeout(total: total, firstByte: idle, idle: idle) --> transport
    }

    /// The monitor that adds the header fields to each request that is made.
    ///
    /// They are the request's own from then on, so that a redirect to another origin drops what is secret.
    var monitors: [any EventMonitor] { headers.isEmpty ? [] : [FieldMonitor(fields: headers)] }

    private var transport: any HTTPLoader {
        let connections = httpMaximumConnectionsPerHost.map { min(max($0, 1), 65_536) }
        #if canImport(Darwin)
        let configuration = URLSessionConfiguration.ephemeral
        if let connections { configuration.httpMaximumConnectionsPerHost = connections }
        // An ephemeral configuration is never refused.
        return (try? URLSessionLoader(configuration: configuration)) ?? URLSessionLoader()
        #else
        var configuration = CurlLoader.Configuration()
        if let connections { configuration.maximumConnectionsPerHost = connections }
        // Nothing else is set that a loader could refuse.
        return (try? CurlLoader(configuration: configuration)) ?? CurlLoader()
        #endif
    }
}

private struct FieldMonitor: EventMonitor {
    let fields: HTTPHeaders

    func requestDidCreate(_ request: Request) {
        request.beforeStart { [fields] request in
            let own = request.headers
            let hasType = request.body.contentType != nil
            for field in fields where !own.contains(field.name) {
                // The type of a body is the request's own as well.
                if hasType, HTTPHeaders.isSame(field.name, "Content-Type") { continue }
                request.headers.add(field.name, field.value)
            }
        }
    }
}
