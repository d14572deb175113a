internal import RefrainCore

extension MetricsMonitor.Snapshot {
    /// The counts in the Prometheus text format, version 0.0.4.
    public var prometheusText: String {
        var lines: [String] = []
        func family(_ name: String, _ type: String, _ help: String, _ samples: [String]) {
            lines += ["# HELP \(name) \(help)", "# TYPE \(name) \(type)"] + samples
        }
        family(
            "refrain_requests_total",
            "counter",
            "Requests by how they ended.",
            [("succeeded", requestsSucceeded), ("failed", requestsFailed), ("cancelled", requestsCancelled)].map {
                "refrain_requests_total{outcome=\"\($0.0)\"} \($0.1)"
            }
        )
        family(
            "refrain_requests_active",
            "gauge",
            "Requests that have not ended.",
            ["refrain_requests_active \(requestsActive)"]
        )
        family(
            "refrain_attempts_total",
            "counter",
            "Attempts by host and by status or error.",
            attempts.map { key, count in
                "refrain_attempts_total{\(Self.label("host", key.host)),\(Self.label("outcome", key.outcome))} \(count)"
            }.sorted()
        )
        family("refrain_retries_total", "counter", "Retries by host and reason.", Self.samples("retries", retries))
        family(
            "refrain_given_up_total",
            "counter",
            "Ends without a further attempt, by host and reason.",
            Self.samples("given_up", givenUp)
        )
        family(
            "refrain_attempt_duration_seconds",
            "histogram",
            "How long attempts took.",
            durations.sorted { $0.key < $1.key }.flatMap { host, histogram in Self.samples(host, histogram) }
        )
        return lines.joined(separator: "\n") + "\n"
    }

    private static func samples(_ name: String, _ counts: [ReasonKey: Int]) -> [String] {
        counts.map { key, count in
            "refrain_\(name)_total{\(label("host", key.host)),\(label("reason", key.reason.rawValue))} \(count)"
        }.sorted()
    }

    private static func samples(_ host: String, _ histogram: DurationHistogram) -> [String] {
        let name = "refrain_attempt_duration_seconds"
        var lines: [String] = []
        var below = 0
        for (index, bound) in DurationHistogram.bounds.enumerated() {
            below = below.addingSaturated(histogram.counts[index])
            lines.append("\(name)_bucket{\(label("host", host)),le=\"\(bound)\"} \(below)")
        }
        lines.append("\(name)_bucket{\(label("host", host)),le=\"+Inf\"} \(histogram.count)")
        lines.append("\(name)_sum{\(label("host", host))} \(histogram.sum)")
        lines.append("\(name)_count{\(label("host", host))} \(histogram.count)")
        return lines
    }

    private static func label(_ name: String, _ value: String) -> String {
        var escaped = ""
        var previous: Unicode.Scalar?
        // By scalar: a quote followed by a combining accent is a single character, which does not equal a quote.
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n" where previous == "\r": break
            case "\n", "\r": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
            previous = scalar
        }
        return "\(name)=\"\(escaped)\""
    }
}
