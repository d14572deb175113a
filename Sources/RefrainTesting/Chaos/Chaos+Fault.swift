public import RefrainHTTP

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
