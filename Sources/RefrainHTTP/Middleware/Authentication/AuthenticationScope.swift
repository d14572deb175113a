/// The desks on whose behalf the present code obtains a credential.
///
/// A request that is made in there must not wait for the very credential that it is to bring.
enum AuthenticationScope {
    @TaskLocal static var desks: [WorkScope] = []
}
