// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The options that limit the time of a request as they were given, such as `--timeout 3s`, for messages.
struct TimeLimits: Hashable, Sendable {
    /// The limit of each attempt; nil: none.
    private(set) var attempt: String?
    /// The limit to connect; nil: the default.
    private(set) var connect: String?
    /// The limit of the request, all its attempts together; nil: none.
    private(set) var request: String?
    /// Whether a transfer may be too slow, so that an attempt ends by other limits than that of silence.
    private(set) var hasMinimumSpeed = false

    /// Makes those of a request without options.
    init() {}

    /// Reads the options.
    ///
    /// - Parameter isPerAttempt: whether `--max-time` limits each attempt.
    init(_ arguments: Arguments, isPerAttempt: Bool) {
        func text(_ option: OptionName) -> String? {
            arguments.last(option).map { "--\(option.rawValue) \($0)" }
        }
        attempt = text(.timeout) ?? (isPerAttempt ? text(.maxTime) : nil)
        connect = text(.connectTimeout)
        request = text(.deadline) ?? (isPerAttempt ? nil : text(.maxTime))
        hasMinimumSpeed = arguments.has(.speedLimit) || arguments.has(.speedTime)
    }
}

private enum TimeLimitsOption: HTTPRequestOption {
    static let defaultValue = TimeLimits()
}

extension HTTPRequest {
    /// The options that limit its time.
    var timeLimits: TimeLimits {
        get { self[option: TimeLimitsOption.self] }
        set { self[option: TimeLimitsOption.self] = newValue }
    }
}
