// SPDX-License-Identifier: Apache-2.0
public import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A stage that injects faults into a share of the requests, the same ones for each seed.
///
/// ```swift
/// let loader = Retry(RetryPolicy.recommended)
///     --> Chaos(seed: 7)
///     --> PlatformLoader()
/// ```
///
/// Place it after the stages under test, usually directly before the transport: after ``/RefrainHTTP/Retry`` each
/// attempt may meet a fault, before it each call. Which requests meet which fault depends on the seed, the method and
/// the URL, and on how often that URL was requested before; not on the order in which concurrent requests arrive. A
/// test that fails can therefore be repeated with its seed.
///
/// A fault looks as it does from a transport: it is a response, or an `HTTPError` after which bytes of the request may
/// have left. So the rules of a safe retry apply (RFC 9110 §9.2.2): a POST without an idempotency key is not repeated
/// after a reset.
///
/// Copies share their counters.
public struct Chaos: HTTPMiddleware {
    private let seed: UInt64
    private let faults: [Fault]
    private let clocks: RetryClocks
    private let counters = Locked(ChaosCounters())
    private let resets = CancellationTokenSource()

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - seed: selects the requests that meet faults.
    ///   - faults: the faults, each with its rate. If the rates add up to more than 1, the first faults take
    ///     precedence. Defaults to three requests in ten, with all faults in equal parts.
    ///   - clocks: the clocks that measure delays.
    public init(seed: UInt64, _ faults: [Fault] = Fault.mixed(rate: 0.3), clocks: RetryClocks = .system) {
        self.seed = seed
        self.faults = faults
        self.clocks = clocks
    }

    /// The number of requests that arrived at the stage.
    public var requestCount: Int { counters.withLock { $0.requests } }
    /// The number of requests that met a fault.
    public var faultCount: Int { counters.withLock { $0.faults } }

    /// Forwards a request, or injects a fault before or after that.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let draw = draw(for: request)
        guard let fault = fault(for: draw) else { return await next.load(request) }
        switch fault.kind {
        case .status(let status, let headers):
            return .success(HTTPResponse(request: request, status: status, headers: headers, body: .text("chaos\n")))
        case .delay(let delay):
            do {
                try await clocks.timer.cancelled(by: resets.current).sleep(for: delay)
            } catch {
                return .failure(HTTPError(.cancelled, request: request, underlyingError: error, bytesSent: 0))
            }
            return await next.load(request)
        case .reset:
            let isProcessed = SplitMix.mix(draw) & 1 == 0
            let result = isProcessed ? await next.load(request) : nil
            return Self.lost(request, result, "the connection was reset")
        case .garbage:
            let result = await next.load(request)
            guard case .success(let response) = result else { return result }
            let sent = response.exchange.bytesSent
            return .failure(
                HTTPError(.badServerResponse, request: request, message: "the answer is not HTTP", bytesSent: sent)
            )
        case .cut:
            return Self.cut(await next.load(request), request)
        }
    }

    /// Ends the delays of requests, with `HTTPError.Code.cancelled`.
    public func reset() async { resets.cancel() }

    /// The number that decides about a request.
    private func draw(for request: HTTPRequest) -> UInt64 {
        // FNV-1a: Swift's own hashes differ from process to process.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for text in [request.method.rawValue, " ", request.url.absoluteString] {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        let occurrence = counters.withLock { $0.count(hash) }
        return SplitMix.mix(SplitMix.mix(seed ^ hash) &+ occurrence &* 0x9e37_79b9_7f4a_7c15)
    }

    private func fault(for draw: UInt64) -> Fault? {
        var rest = Double(draw >> 11) * 0x1p-53
        for fault in faults {
            rest -= fault.rate
            guard rest < 0 else { continue }
            counters.withLock { $0.faults += 1 }
            return fault
        }
        return nil
    }

    /// The failure of a request whose connection was lost, and whose answer may have been on its way.
    private static func lost(_ request: HTTPRequest, _ result: HTTPResult?, _ message: String) -> HTTPResult {
        if case .failure(let error) = result { return .failure(error) }
        let sent = result?.response?.exchange.bytesSent
        return .failure(HTTPError(.networkConnectionLost, request: request, message: message, bytesSent: sent))
    }

    /// A response whose body ends in the middle.
    private static func cut(_ result: HTTPResult, _ request: HTTPRequest) -> HTTPResult {
        guard case .success(var response) = result, !response.body.isEmpty else {
            return lost(request, result, "the connection was closed before the head of the response was complete")
        }
        let message = "the connection was closed within the body"
        let sent = response.exchange.bytesSent
        guard case .bytes(let bytes) = response.body.storage else {
            let failure = HTTPError(.networkConnectionLost, request: request, message: message, bytesSent: sent)
            response.body = response.body.cut(with: failure)
            return .success(response)
        }
        response.body = .bytes(bytes.prefix(bytes.count / 2))
        return .failure(
            HTTPError(
                .networkConnectionLost,
                request: request,
                response: response,
                message: message,
                bytesSent: sent
            )
        )
    }
}

/// The counts of all copies of a stage.
private struct ChaosCounters {
    var requests = 0
    var faults = 0
    private var occurrences: [UInt64: UInt64] = [:]

    /// With more URLs than this, the counting begins again.
    private static let capacity = 65_536

    /// Counts a request; returns how often the same one came before.
    mutating func count(_ hash: UInt64) -> UInt64 {
        requests += 1
        if occurrences.count >= Self.capacity { occurrences.removeAll(keepingCapacity: true) }
        let before = occurrences[hash, default: 0]
        occurrences[hash] = before + 1
        return before
    }
}

extension HTTPBody {
    /// This body with its first half, or its first chunk if its length is unknown, and then a failure.
    fileprivate func cut(with failure: HTTPError) -> HTTPBody {
        let limit = length.map { Int(clamping: $0 / 2) }
        // nonisolated(unsafe): both stay with the source below, which has one reader at a time.
        nonisolated(unsafe) var iterator = makeAsyncIterator()
        nonisolated(unsafe) var count = 0
        let source = ChunkSource {
            if count >= limit ?? 1 { throw failure }
            guard let chunk = try await iterator.next() else { return nil }
            let part = limit.map { chunk.prefix($0 - count) } ?? chunk[...]
            count += part.count
            return Array(part)
        }
        return HTTPBody(.oneShot(OneShotSource(length: length, source)))
    }
}

extension Chaos {
    /// A fault, and the share of requests that meet it.
    ///
    /// Rates are from 0 to 1; other values are clamped.
    public struct Fault: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case status(HTTPStatus, HTTPHeaders)
            case reset
            case delay(Duration)
            case cut
            case garbage
        }

        let kind: Kind
        /// The share of requests that meet the fault, from 0 to 1.
        public let rate: Double

        private init(_ kind: Kind, _ rate: Double) {
            self.kind = kind
            self.rate = min(1, rate > 0 ? rate : 0)
        }

        /// A response with this status; the request is not forwarded, and its body is not read.
        public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:], rate: Double) -> Fault {
            Fault(.status(status, headers), rate)
        }

        /// A reset of the connection, `networkConnectionLost`.
        ///
        /// Of two requests about one is forwarded before: the server has processed it, and its answer is lost.
        public static func reset(rate: Double) -> Fault { Fault(.reset, rate) }

        /// A wait before the request is forwarded.
        ///
        /// A negative delay counts as none.
        public static func delay(_ delay: Duration, rate: Double) -> Fault { Fault(.delay(max(.zero, delay)), rate) }

        /// A body that ends in the middle, `networkConnectionLost`.
        ///
        /// The request is forwarded. A body in memory is the error's response; a streamed one fails when it is read.
        public static func cut(rate: Double) -> Fault { Fault(.cut, rate) }

        /// An answer that is not HTTP, `badServerResponse`; the request is forwarded before.
        public static func garbage(rate: Double) -> Fault { Fault(.garbage, rate) }

        /// A status of 503, a reset, a delay of 50 ms, a cut and garbage, each with a fifth of the rate.
        public static func mixed(rate: Double) -> [Fault] {
            let part = rate / 5
            return [
                .status(503, rate: part), .reset(rate: part), .delay(.milliseconds(50), rate: part),
                .cut(rate: part), .garbage(rate: part),
            ]
        }
    }
}
