#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Session {
    /// Makes the request of a target, with its validation and interceptor.
    public func request(_ target: some TargetType) -> DataRequest {
        let original = RequestFactory(Call(target: target))
        let request =
            target.task.isUpload
            ? UploadRequest(original, line: line(target.interceptor), session: reference)
            : DataRequest(original, line: line(target.interceptor), session: reference)
        if let codes = target.validationType.statusCodes { request.validate(statusCode: codes) }
        return adopting(request)
    }

    /// Makes a download of a target into a file.
    public func download(_ target: some TargetType, to fileURL: URL) -> DownloadRequest {
        let original = RequestFactory(Call(target: target))
        let request = DownloadRequest(original, to: .file(fileURL), line: line(target.interceptor), session: reference)
        if let codes = target.validationType.statusCodes { request.validate(statusCode: codes) }
        return adopting(request)
    }
}

private struct Call: Session.RequestConvertible {
    let target: any TargetType

    func asHTTPRequest() throws -> HTTPRequest { try target.makeRequest() }
}
