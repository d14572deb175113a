#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Writes a request as a `curl` command that a shell runs as it stands.
enum CURLDescription {
    static func text(for request: HTTPRequest) -> String {
        var lines = ["$ curl -v", "-X \(quoted(request.method.rawValue))"]
        for field in request.headers { lines.append("-H \(quoted("\(field.name): \(field.value)"))") }
        if let type = request.body.contentType, !request.headers.contains("Content-Type") {
            lines.append("-H \(quoted("Content-Type: \(type)"))")
        }
        if let body = bodyArgument(request.body) { lines.append(body) }
        lines.append(quoted(request.url.absoluteString))
        return lines.joined(separator: " \\\n\t")
    }

    private static func bodyArgument(_ body: HTTPBody) -> String? {
        guard !body.isEmpty else { return nil }
        switch body.storage {
        case .file(let path): return "--data-binary @\(quoted(path))"
        case .bytes(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
                return "--data-binary @- # \(bytes.count) bytes that are no text"
            }
            return "--data-binary \(quoted(text))"
        case .restartable, .oneShot: return "--data-binary @- # a stream"
        }
    }

    /// One word for a POSIX shell: in single quotes, with each single quote outside of them.
    private static func quoted(_ text: String) -> String {
        "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }
}
