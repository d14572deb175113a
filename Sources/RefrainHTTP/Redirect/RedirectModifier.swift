/// What changes the request of a redirect; nil stands for a redirect that is not followed.
///
/// A stage may need to know more than once whether a redirect is followed, so it has no effects of its own.
package typealias RedirectModifier =
    @Sendable (
        _ original: HTTPRequest, _ redirected: HTTPRequest, _ response: HTTPResponse
    ) -> HTTPRequest?

extension HTTPRequest {
    /// Changes the requests of redirects; defaults to nil.
    package var redirectModifier: RedirectModifier? {
        get { self[option: RedirectModifierOption.self] }
        set { self[option: RedirectModifierOption.self] = newValue }
    }
}

private enum RedirectModifierOption: HTTPRequestOption {
    static let defaultValue: RedirectModifier? = nil
}
