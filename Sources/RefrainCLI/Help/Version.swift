/// The version of the package.
enum Version {
    /// As `refrain --version` says it (semantic versioning 2.0).
    static let current = "0.1.0"
}
