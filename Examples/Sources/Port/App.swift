// SPDX-License-Identifier: Apache-2.0
import Refrain

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The actions of the user; each method corresponds to a method with a completion in an Alamofire app.
struct App {
    let base: String
    let authentication: AuthenticationInterceptor<TokenAuthenticator>
    let session: Session

    init(base: String) {
        self.base = base
        authentication = AuthenticationInterceptor(authenticator: TokenAuthenticator(base: base))
        // In this order: the authenticator handles a 401, the policy all other failures.
        session = Session(
            interceptor: Interceptor(interceptors: [authentication, .recommendedRetryPolicy]),
            eventMonitors: [RetryLines()]
        )
    }

    /// Logs in without a token, on a separate session.
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

    /// Uploads a file; the idempotency key makes it safe to retry.
    func upload(_ file: URL, progress: @escaping @Sendable (Request.TransferProgress) -> Void) async throws -> String {
        try await session.upload(file, to: "\(base)/photos/new") { $0.idempotencyKey = .generated }
            .uploadProgress(progress)
            .validate()
            .serializingString()
            .value
    }

    /// Downloads a file; an interrupted download is resumed.
    func download(_ path: String, to file: URL) async throws -> (file: URL, attempts: Int) {
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
