extension RefrainError {
    /// What could not be made into a URL, and why.
    public struct InvalidURL: Error, CustomStringConvertible {
        /// The value that is no URL.
        public let convertible: any URLConvertible
        /// Why it is none.
        public let underlyingError: any Error

        /// Describes a value that is no URL.
        public init(_ convertible: any URLConvertible, dueTo error: any Error) {
            self.convertible = convertible
            underlyingError = error
        }

        /// A sentence that describes the error.
        public var description: String { "\(underlyingError)" }
    }
}
