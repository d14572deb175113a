import Refrain

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the user can do; each method is what an Alamofire app would have as a method with a completion.
struct App {
    let base: String
    let authentication: AuthenticationInterceptor<TokenAuthenticator>
    let session: Session

    init(base: String) {
        self.base = base
        authentication = AuthenticationInterceptor(authenticator: TokenAuthenticator(base: base))
        // Asked in this order: a 401 is the authenticator's, what is left is the policy's.
        session = Session(
            interceptor: Interceptor(interceptors: [authentication, .recommendedRetryPolicy]),
            eventMonitors: [RetryLines()]
        )
    }

    /// Logs in, without a token yet: on a session of its own.
    func logIn(name: String, password: String) async throws {
        authentication.credential = try await Session.default.request(
            "\(base)/login",
            method: .post,
            parameters: Login(name: name, password: password),
            encoder: JSONParameterEncoder.default
        )
        .validate()
        .serializingDecodable(Token.self)
        .value
    }

    func photos() async throws -> [Photo] {
        try await session.request("\(base)/photos", parameters: ["page": 1])
            .validate()
            .serializingDecodable([Photo].self)
            .value
    }

    /// Sends a file; it may be sent again after a failure, since the server knows the key that goes with it.
    func upload(_ file: URL, progress: @escaping @Sendable (TransferProgress) -> Void) async throws -> String {
        try await session.upload(file, to: "\(base)/photos/new") { $0.idempotencyKey = .generated }
            .uploadProgress(progress)
            .validate()
            .serializingString()
            .value
    }

    /// Fetches a file; a connection that breaks is taken up where it broke.
    func download(_ path: String, to file: URL) async throws -> (file: URL, tries: Int) {
        let download = session.download("\(base)\(path)", to: file)
            .downloadProgress { progress in
                guard let total = progress.total, progress.completed == total else { return }
                print("  received \(progress.completed) of \(total) bytes")
            }
        let saved = try await download.validate().serializingDownloadedFileURL().value
        return (saved, download.attempts.count)
    }
}

/// Prints a line for each retry.
struct RetryLines: EventMonitor {
    func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason) {
        print("  \(request): again (\(reason.rawValue))")
    }
}
