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
            throw AFError.responseSerializationFailed(reason: .inputFileNil)
        }
        let data: Data
        do {
            data = try Data(contentsOf: fileURL)
        } catch {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL))
        }
        return try serialize(request: request, response: response, data: data, error: nil)
    }
}

/// What makes a value of a download's file.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
    /// The type of the value.
    associatedtype SerializedObject: Sendable

    /// Returns the value.
    ///
    /// - Throws: `error`, or that of the serializer.
    func serializeDownload(
        request: HTTPRequest?,
        response: HTTPResponse?,
        fileURL: URL?,
        error: (any Error)?
    ) throws -> SerializedObject
}

/// Returns the file of a download, unread.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    /// Makes the serializer.
    public init() {}

    /// Returns the file.
    ///
    /// - Throws: `error`, or `RefrainError.responseSerializationFailed(reason:attempts:)` if there is no file.
    public func serializeDownload(
        request: HTTPRequest?,
        response: HTTPResponse?,
        fileURL: URL?,
        error: (any Error)?
    ) throws -> URL {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return fileURL
    }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
    /// The file of a download, unread.
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}
