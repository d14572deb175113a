// SPDX-License-Identifier: Apache-2.0
extension Download {
    /// The state of a download in a form that can be stored, with which another process resumes it (rule R11).
    ///
    /// A sink receives one with each response in ``Download/Sink/willReceive(_:from:)``, and an interrupted download
    /// has one in ``Download/checkpoint``. Store its properties beside the bytes, and resume with
    /// ``Download/init(to:from:upTo:)``. The only credentials in it are those of its URLs.
    public struct Checkpoint: Hashable, Sendable {
        /// The bytes that the sink holds.
        public var offset: Int64
        /// The total number of bytes, if known.
        public var total: Int64?
        /// What proves that further bytes belong to these.
        var strongValidator: StrongValidator
        /// The URL that was requested.
        public var requestedURL: String
        /// The URL that answered.
        public var answeringURL: String
        /// The fields that describe the content as a whole, which a part of it need not repeat.
        public var fields: HTTPHeaders

        /// The value of `If-Range`, which proves that further bytes belong to these (RFC 9110 §13.1.5).
        ///
        /// It is a strong entity tag or a date.
        public var validator: String { strongValidator.fieldValue }
    }
}

extension Download.Checkpoint {
    /// Makes a checkpoint of stored values.
    ///
    /// - Returns: nil where the validator is neither a strong entity tag nor a date, or the offset is negative.
    public init?(
        offset: Int64,
        total: Int64?,
        validator: String,
        requestedURL: String,
        answeringURL: String,
        fields: HTTPHeaders
    ) {
        guard offset >= 0, let strongValidator = StrongValidator(fieldValue: validator) else { return nil }
        self.init(
            offset: offset,
            total: total,
            strongValidator: strongValidator,
            requestedURL: requestedURL,
            answeringURL: answeringURL,
            fields: fields
        )
    }
}

extension DownloadState {
    /// The state that a checkpoint describes.
    init(_ checkpoint: Download.Checkpoint) {
        self.init(offset: checkpoint.offset, total: checkpoint.total, validator: checkpoint.strongValidator)
        source = Source(requested: checkpoint.requestedURL, sent: checkpoint.answeringURL)
        head = checkpoint.fields
    }

    /// The state of the download, if it can be resumed from there.
    var checkpoint: Download.Checkpoint? {
        guard let validator, let source, isIntact else { return nil }
        var fields = HTTPHeaders()
        for name in Self.describingFields {
            for value in head[values: name] { fields.add(name, value) }
        }
        return Download.Checkpoint(
            offset: offset,
            total: total,
            strongValidator: validator,
            requestedURL: source.requested,
            answeringURL: source.sent,
            fields: fields
        )
    }
}
