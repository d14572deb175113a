#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Counts the bytes of bodies for those who watch their progress, and holds streams while a request is suspended.
struct Delivery: HTTPMiddleware {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard let owner = request.sessionRequest, owner.watchesBytes else {
            return await next.load(request)
        }
        return await load(request, watchedBy: owner, next)
    }

    // Apart, so that requests that nobody watches do not pass through its frame.
    @inline(never)
    private func load(_ request: HTTPRequest, watchedBy owner: Request, _ next: any HTTPLoader) async -> HTTPResult {
        var request = request
        if !request.body.isEmpty, owner.watchesUpload {
            do {
                request.body = try request.body.watched(by: owner)
            } catch {
                return .failure(Self.failure(error, request))
            }
        }
        guard !request.streamsResponse, owner.watchesDownload else { return await next.load(request) }
        request.streamsResponse = true
        let result = await next.load(request)
        guard case .success(let response) = result else { return result }
        return await collect(response, for: owner)
    }

    /// Reads the body as the transport would have done, and tells how far it has come.
    private func collect(_ response: HTTPResponse, for owner: Request) async -> HTTPResult {
        var whole = response
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
                owner.note(downloaded: TransferProgress(completed: Int64(bytes.count), total: total))
            }
        } catch {
            return .failure(Self.failure(error, response.request))
        }
        whole.body = HTTPBody(.bytes(bytes))
        return .success(whole)
    }

    private static func failure(_ error: any Error, _ request: HTTPRequest) -> HTTPError {
        switch error {
        case let error as HTTPError: error
        case let error as LocalFileError:
            HTTPError(error.code, request: request, underlyingError: error, message: "\(error)", bytesSent: 0)
        case is CancellationError: HTTPError(.cancelled, request: request)
        default: HTTPError(.callerFailed, request: request, underlyingError: error, message: "\(error)")
        }
    }
}

extension HTTPResponse {
    /// The length of the body where it is known: a coded body is decoded on its way, so its length says nothing.
    var expectedLength: Int64? {
        guard !headers.contains("Content-Encoding"),
            case .bytes(let count) = ContentLength.parse(fieldValues: headers[values: "Content-Length"])
        else { return nil }
        return count
    }
}
