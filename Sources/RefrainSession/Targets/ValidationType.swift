/// The statuses that a target accepts.
public enum ValidationType: Hashable, Sendable {
    /// All statuses.
    case none
    /// 200 to 299.
    case successCodes
    /// 200 to 399.
    case successAndRedirectCodes
    /// These statuses; all if the list is empty.
    case customCodes([Int])

    /// The accepted statuses; nil means all.
    public var statusCodes: [Int]? {
        switch self {
        case .none: nil
        case .successCodes: Array(200..<300)
        case .successAndRedirectCodes: Array(200..<400)
        case .customCodes(let codes): codes.isEmpty ? nil : codes
        }
    }
}
