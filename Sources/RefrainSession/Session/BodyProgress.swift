// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Counts the bytes of bodies whose progress is watched, hands heads over, and pauses streams of suspended requests.
enum BodyProgress {
    /// Distinguishes redirects that are followed from final responses.
    private static let redirect = Redirect()

    /// Sends a request, and publishes the progress of its bodies.
    static func send(
        _ request: HTTPRequest,
        for owner: Request,
        through transport: any HTTPLoader
    ) async -> HTTPResult {
        var request = request
        if !request.body.isEmpty, owner.watchesUpload {
            do {
                request.body = try request.body.watched(by: owner)
            } catch {
                return .failure(Self.failure(error, request))
            }
        }
        let watchesHeads = owner.watchesHeads
        let collects = !request.streamsResponse && (owner.watchesDownload || watchesHeads)
        if collects { request.streamsResponse = true }
        let result = await transport.load(request)
        guard case .success(let response) = result else { return result }
        if request.download != nil { owner.note(head: response.withoutBody) }
        if watchesHeads, !redirect.follows(response, to: request), await !owner.allowsContent(of: response) {
            return .failure(HTTPError(.cancelled, request: request, response: response.withoutBody))
        }
        guard collects, !request.deferredBodies.contains(status: response.status.rawValue) else { return result }
        return await collect(response, for: owner)
    }

    /// Reads the body as the transport would have done, and publishes its progress.
    private static func collect(_ response: HTTPResponse, for owner: Request) async -> HTTPResult {
        var bytes = Data()
        let limit = response.request.maximumBodySize ?? HTTPRequest.defaultMaximumBodySize
        let total = response.expectedLength
        do {
            for try await chunk in response.body {
                guard bytes.count <= limit - chunk.count else {
                    throw HTTPError(
                        .dataLengthExceedsMaximum,
                        request: response.request,
                        message: "the body is larger than \(limit) bytes",
                        bytesSent: response.exchange.bytesSent
                    )
                }
                bytes.append(contentsOf: chunk)
                owner.note(downloaded: Request.TransferProgress(completed: Int64(bytes.count), total: total))
            }
        } catch {
            return .failure(Self.failure(error, response.request))
        }
        return .success(response.with(.data(bytes)))
    }

    private static func failure(_ error: any Error, _ request: HTTPRequest) -> HTTPError {
        switch error {
        case let error as HTTPError: error
        case let error as HTTPBody.FileError:
            HTTPError(error.code, request: request, underlyingError: error, message: "\(error)", bytesSent: 0)
        case is CancellationError: HTTPError(.cancelled, request: request)
        default: HTTPError(.callerFailed, request: request, underlyingError: error, message: "\(error)")
        }
    }
}
