/// Which statuses a call accepts.
public enum ValidationType: Hashable, Sendable {
    /// Every one.
    case none
    /// 200 to 299.
    case successCodes
    /// 200 to 399.
    case successAndRedirectCodes
    /// These; every one, where the list is empty.
    case customCodes([Int])

    /// The statuses that are accepted; nil: every one.
    public var statusCodes: [Int]? {
        switch self {
        case .none: nil
        case .successCodes: Array(200..<300)
        case .successAndRedirectCodes: Array(200..<400)
        case .customCodes(let codes): codes.isEmpty ? nil : codes
        }
    }
}
