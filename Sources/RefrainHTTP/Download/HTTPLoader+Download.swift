extension HTTPLoader {
    /// Downloads the content of a request into a file, which appears under its name when it is complete.
    ///
    /// ```swift
    /// let loader = Retry(.recommended) --> Resume() --> CurlLoader()
    /// try await loader.download(request, to: "image.iso")
    /// ```
    ///
    /// A chain with ``Resume`` inside of ``Retry`` goes on where a connection broke. A chain without it collects the
    /// content in memory first, up to ``HTTPRequest/maximumBodySize``, and starts over where a connection broke.
    ///
    /// - Parameters:
    ///   - request: asks for the content.
    ///   - path: the path of the file. A file that is there is replaced when the download is complete, not before.
    /// - Returns: the response, with an empty body.
    /// - Throws: `CancellationError` where the calling task was cancelled; ``HTTPError``, with the code
    ///   ``HTTPError/Code/badServerResponse`` where the status is not a 2xx; ``HTTPBody/FileError`` where the file
    ///   cannot be written. In each case the file under the name is the one from before.
    @discardableResult
    public func download(_ request: HTTPRequest, to path: String) async throws -> HTTPResponse {
        let sink = try Download.FileSink(path: path)
        defer { sink.discard() }
        let download = Download(to: sink)
        var request = request
        request.download = download
        var response = try await responseUnlessCancelled(for: request)
        guard (200..<300).contains(response.status.rawValue) else {
            let message = "the download was answered \(response.status)"
            throw HTTPError(.badServerResponse, request: request, response: response, message: message)
        }
        // Empty where a Resume stage has passed the content on; else the content itself.
        for try await chunk in response.body { try await sink.write(chunk) }
        response.body = .empty
        try sink.finish()
        return response
    }
}
