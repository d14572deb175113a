/// The refreshes that the calling code runs within.
///
/// A request of a refresh must not wait for the credential that the refresh obtains.
package enum AuthenticationScope {
    @TaskLocal package static var operations: [ActiveOperation] = []
}
