/// What one attempt came to: the result, and what the caller's validation and decoding made of it.
///
/// One pointer in size, because it passes through the frames of all steps of a request.
@usableFromInline
package struct AttemptOutcome: Sendable {
    private var contents: CopyOnWriteBox<Fields>

    /// Makes an outcome; `isStatusAccepted` is whether a status validation of the caller's accepted its status.
    ///
    /// Not inlined: the frames of all steps would have room for the fields on their way to the heap.
    @inline(never)
    @usableFromInline
    package init(_ result: HTTPResult, isStatusAccepted: Bool = false) {
        contents = CopyOnWriteBox(Fields(result: result, isStatusAccepted: isStatusAccepted))
    }

    /// The result of the exchange.
    package var result: HTTPResult {
        get { contents.fields.result }
        _modify { yield &contents.fields.result }
    }

    /// The validation error; nil where the response passed, or was not validated.
    package var validationError: (any Error)? {
        get { contents.fields.validationError }
        _modify { yield &contents.fields.validationError }
    }

    /// The error of the first serializer that could not read the response, or nil.
    package var serializationError: (any Error)? {
        get { contents.fields.serializationError }
        _modify { yield &contents.fields.serializationError }
    }

    /// The error of a retrier that ended the call, or nil.
    package var retryError: (any Error)? {
        get { contents.fields.retryError }
        _modify { yield &contents.fields.retryError }
    }

    /// Whether a status validation of the caller's accepted the response's status.
    package var isStatusAccepted: Bool { contents.fields.isStatusAccepted }

    /// Whether the response passed every check of the caller's and has an acceptable status.
    ///
    /// A status that the caller's validation accepted is acceptable; without such a validation one below 400 is.
    package var isSuccess: Bool {
        guard case .success(let response) = result, validationError == nil, serializationError == nil else {
            return false
        }
        return isStatusAccepted || response.status.rawValue < 400
    }

    private struct Fields: Sendable {
        var result: HTTPResult
        let isStatusAccepted: Bool
        var validationError: (any Error)?
        var serializationError: (any Error)?
        var retryError: (any Error)?
    }
}
