#if Tracing
extension Tracer {
    /// Starts a span with the attributes of a call or an attempt.
    func span(_ name: String, _ kind: SpanKind, _ attributes: CallAttributes) -> any Tracing.Span {
        let span = startSpan(name, ofKind: kind)
        span.set(attributes)
        return span
    }
}

extension Span {
    func set(_ values: CallAttributes) { attributes.merge(SpanAttributes(values)) }

    /// Adds what a call or an attempt has come to: from status 400 on it is an error.
    func conclude(_ result: HTTPResult) {
        var outcome = CallAttributes()
        outcome.add(result)
        set(outcome)
        guard !result.isAcceptable else { return }
        setStatus(SpanStatus(code: .error))
    }

    /// Adds the event of a retry.
    func addRetry(_ record: AttemptRecord) {
        var values = CallAttributes()
        values.add(record)
        values.add("refrain.reason", .text(record.reason.rawValue))
        values.add("refrain.delay_ms", .number(Int(record.delay.inMilliseconds)))
        addEvent(SpanEvent(name: "retry", attributes: SpanAttributes(values)))
    }
}

extension SpanAttributes {
    init(_ values: CallAttributes) {
        self.init([:])
        for (name, value) in values.values {
            switch value {
            case .text(let text): self[name] = text
            case .number(let number): self[name] = number
            }
        }
    }
}
#endif
