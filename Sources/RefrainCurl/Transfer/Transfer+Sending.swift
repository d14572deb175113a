internal import CurlShim
internal import RefrainHTTP

extension Transfer {
    /// Puts more of the request's body into libcurl's buffer; returns how much, or what to do instead.
    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        do throws(UploadFailure) {
            guard let count = try upload.read(into: buffer) else {
                isSendPaused = true
                return Int(CURL_READFUNC_PAUSE)
            }
            noteActivity()
            bodyTaken += Int64(count)
            return count
        } catch {
            stopReason = HTTPError(
                error.code,
                request: request,
                underlyingError: error.underlyingError,
                message: error.message
            )
            return Int(CURL_READFUNC_ABORT)
        }
    }
}
