// SPDX-License-Identifier: Apache-2.0
/// The state of a download in a form that can be stored, with which another process resumes it (rule R11).
package struct DownloadCheckpoint: Hashable, Sendable {
    /// The bytes that the sink holds.
    package var offset: Int64
    /// The total number of bytes, if known.
    package var total: Int64?
    /// What proves that further bytes belong to these.
    package var validator: StrongValidator
    /// The URL that was requested.
    package var requestedURL: String
    /// The URL that answered.
    package var answeringURL: String
    /// The fields that describe the content as a whole, which a part of it need not repeat.
    package var fields: HTTPHeaders

    /// Makes a checkpoint.
    package init(
        offset: Int64,
        total: Int64?,
        validator: StrongValidator,
        requestedURL: String,
        answeringURL: String,
        fields: HTTPHeaders
    ) {
        self.offset = offset
        self.total = total
        self.validator = validator
        self.requestedURL = requestedURL
        self.answeringURL = answeringURL
        self.fields = fields
    }
}

/// A sink that receives each response before its content.
package protocol DownloadObserver: Download.Sink {
    /// Content of a response follows.
    ///
    /// - Parameters:
    ///   - response: the response; its body is not to be read.
    ///   - checkpoint: where the content goes on, or begins, if it can be continued after a cut; nil: it cannot, and
    ///     starts at its beginning.
    func willReceive(_ response: HTTPResponse, from checkpoint: DownloadCheckpoint?) async throws
    /// The length below which the sink keeps no checkpoint of a download that starts at its beginning, so that none is
    /// made. Defaults to 0.
    var minimumLengthOfCheckpoints: Int64 { get }
}

extension DownloadObserver {
    /// Returns 0.
    package var minimumLengthOfCheckpoints: Int64 { 0 }
}

extension DownloadState {
    /// The state that a checkpoint describes.
    init(_ checkpoint: DownloadCheckpoint) {
        self.init(offset: checkpoint.offset, total: checkpoint.total, validator: checkpoint.validator)
        source = Source(requested: checkpoint.requestedURL, sent: checkpoint.answeringURL)
        head = checkpoint.fields
    }

    /// The state of the download, if it can be resumed from there.
    var checkpoint: DownloadCheckpoint? {
        guard let validator, let source, isIntact else { return nil }
        var fields = HTTPHeaders()
        for name in Self.describingFields {
            for value in head[values: name] { fields.add(name, value) }
        }
        return DownloadCheckpoint(
            offset: offset,
            total: total,
            validator: validator,
            requestedURL: source.requested,
            answeringURL: source.sent,
            fields: fields
        )
    }
}
