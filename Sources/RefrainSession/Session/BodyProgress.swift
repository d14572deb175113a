// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The step before the transport: asks a durable queue, counts the bytes of bodies whose progress is watched, hands
/// heads over, and pauses streams of suspended requests.
enum BodyProgress {
    /// Sends a request, if a durable queue that it is from allows it, and publishes the progress of its bodies.
    static func send(
        _ request: HTTPRequest,
        for owner: Request,
        through transport: any HTTPLoader
    ) async -> HTTPResult {
        if let refusal = await request.durableCall?.refusal(request) { return .failure(refusal) }
        let (watchesHead, watchesBody) = owner.watchesResponse
        let collects = !request.streamsResponse && (watchesBody || watchesHead)
        switch watched(request, by: owner, collects: collects) {
        case .success(let sent):
            let result = await transport.load(sent)
            return await deliver(result, of: sent, to: owner, watchesHead, collects: collects)
        case .failure(let error):
            return .failure(error)
        }
    }

    /// Returns the request as it is sent: past the gate of a durable queue, with a body whose progress is published,
    /// and with a streamed response if it `collects` the body.
    private static func watched(
        _ request: HTTPRequest,
        by owner: Request,
        collects: Bool
    ) -> Result<HTTPRequest, HTTPError> {
        var request = request
        DurableGate.pass(&request)
        if !request.body.isEmpty, owner.watchesUpload {
            do {
                request.body = try request.body.watched(by: owner)
            } catch {
                return .failure(failure(error, request))
            }
        }
        if collects { request.streamsResponse = true }
        return .success(request)
    }

    /// Publishes what the transport has returned, and reads the body if it `collects`.
    private static func deliver(
        _ result: HTTPResult,
        of request: HTTPRequest,
        to owner: Request,
        _ watchesHead: Bool,
        collects: Bool
    ) async -> HTTPResult {
        guard case .success(let response) = result else { return result }
        if request.download != nil { owner.note(headOf: response) }
        if watchesHead, !Redirect.follows(response, to: request),
            let refusal = await owner.refusal(ofContent: response, to: request)
        {
            return .failure(refusal)
        }
        guard collects, !request.deferredBodies.contains(status: response.status.rawValue) else { return result }
        let total = response.expectedLength
        return await response.collected { bytes in
            owner.note(downloaded: Request.TransferProgress(completed: Int64(bytes), total: total))
        }
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
