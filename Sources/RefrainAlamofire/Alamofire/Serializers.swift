#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension ResponseSerializer {
    /// Serializes the parts of a response, as Alamofire's serializers do.
    ///
    /// - Parameters:
    ///   - request: the request that was sent, or nil.
    ///   - response: the response without its body; nil stands for a response with status 200.
    ///   - data: the body; nil stands for an empty one.
    ///   - error: an error of the request, which is thrown.
    /// - Throws: `error`, or that of the serializer.
    public func serialize(
        request: HTTPRequest?,
        response: HTTPResponse?,
        data: Data?,
        error: (any Error)?
    ) throws -> Value {
        if let error { throw error }
        let whole = HTTPResponse(
            request: request ?? response?.request ?? HTTPRequest(),
            status: response?.status ?? .ok,
            headers: response?.headers ?? [:],
            body: .data(data ?? Data())
        )
        return try serialize(whole)
    }

    /// Serializes the file of a download, as Alamofire's serializers do.
    ///
    /// - Throws: `error`, that of reading the file, or that of the serializer.
    public func serializeDownload(
        request: HTTPRequest?,
        response: HTTPResponse?,
        fileURL: URL?,
        error: (any Error)?
    ) throws -> Value {
        if let error { throw error }
        guard let fileURL else {
            throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
        }
        let data: Data
        do {
            data = try Data(contentsOf: fileURL)
        } catch {
            throw AFError.responseSerializationFailed(reason: .customSerializationFailed(error: error, body: []))
        }
        return try serialize(request: request, response: response, data: data, error: nil)
    }
}
