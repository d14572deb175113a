#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension FaultServer {
    /// An error at the start of a ``FaultServer``.
    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The port could not be bound, usually because another process listens on it.
        case cannotBind(port: UInt16, errno: Int32)
        /// The system refused a socket, a pipe or a thread; `call` is the call that failed.
        case outOfResources(call: String, errno: Int32)

        /// A sentence with the system's error message.
        public var description: String {
            switch self {
            case .cannotBind(let port, let code):
                return "cannot listen on 127.0.0.1:\(port): \(Self.text(of: code))"
            case .outOfResources(let call, let code):
                return "\(call) failed: \(Self.text(of: code))"
            }
        }

        private static func text(of code: Int32) -> String {
            guard let text = strerror(code) else { return "errno \(code)" }
            return String(cString: text)
        }
    }
}
