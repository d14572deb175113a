// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What an answer says about another attempt, read by a ``ServerProfile``.
package struct ServerAdvice: Hashable, Sendable {
    /// The server's word on whether another attempt is worth it.
    package var allowsRetry: Bool?
    /// Whether the status is a refusal of the profile's.
    package var isRefusal = false
    /// Whether the body has a code against which no wait helps.
    package var isFinal = false
    /// The time to come back at in the body.
    package var delay: Duration?
}

extension ServerProfile {
    /// Reads an answer; nil for a failure, and for a success.
    func advice(on context: RetryContext) -> ServerAdvice? {
        guard case .status(let status) = context.outcome, status.rawValue >= 400 else { return nil }
        var advice = ServerAdvice(isRefusal: refusals.contains(status))
        for name in retryHints {
            // Exactly one of the two words, as the SDKs read it.
            guard let word = FieldValues.single(context.headers[values: name]) else { continue }
            if word == "true" || word == "false" { advice.allowsRetry = word == "true" }
            break
        }
        guard readsBody, case .bytes(let bytes)? = context.details.answer?.storage, let error = RefusalBody(bytes)
        else { return advice }
        advice.isFinal = !finalCodes.isDisjoint(with: error.codes)
        if readsRetryInfo { advice.delay = error.retryDelay }
        return advice
    }

    /// The status of the error that an event is; nil for another event, and without ``streamErrors``.
    func status(of event: HTTPBody.ServerSentEvent) -> HTTPStatus? {
        guard !streamErrors.isEmpty, let error = RefusalBody(Data(event.data.utf8)),
            event.type == "error" || error.hasErrorMember
        else { return nil }
        if let status = error.status, (400..<600).contains(status) { return HTTPStatus(rawValue: status) }
        return error.codes.lazy.compactMap { streamErrors[$0] }.first ?? 500
    }
}

/// The codes and the time in the JSON of a refusal.
private struct RefusalBody {
    /// How much of a body is read.
    static let longest = 64 * 1024

    /// The error's codes, the most telling first.
    private(set) var codes: [String] = []
    private(set) var retryDelay: Duration?
    /// A code that is a number, also as text, which is the status.
    private(set) var status: Int?
    /// Whether there is a member `error`, by which an event of a stream is told to be one.
    private(set) var hasErrorMember = false

    /// Reads an object with `error`, a list of such objects, or the error itself; nil for anything else.
    init?(_ bytes: Data) {
        guard bytes.count <= Self.longest, let value = try? JSONDecoder().decode(JSONValue.self, from: bytes) else {
            return nil
        }
        let answers = if case .array(let values) = value { values } else { [value] }
        for answer in answers {
            guard let object = answer.object else { continue }
            let error = object["error"]?.object
            if error != nil || object["error"]?.string != nil { hasErrorMember = true }
            read(error ?? object)
        }
    }

    private mutating func read(_ error: [String: JSONValue]) {
        switch error["code"] {
        case .number(let code): status = Int(exactly: code) ?? status
        case .string(let code): status = Int(code) ?? status
        default: break
        }
        codes += ["code", "type", "status"].compactMap { error[$0]?.string }
        if let code = error["details"]?.object?["error_code"]?.string { codes.append(code) }
        guard case .array(let details)? = error["details"] else { return }
        for detail in details.compactMap(\.object) {
            if let reason = detail["reason"]?.string { codes.append(reason) }
            guard detail["@type"]?.string?.hasSuffix("/google.rpc.RetryInfo") == true else { continue }
            retryDelay = detail["retryDelay"]?.string.flatMap(FieldTime.protobufDuration) ?? retryDelay
        }
    }
}

/// JSON of any shape, as far as a refusal needs it.
private enum JSONValue: Decodable {
    case string(String)
    case number(Double)
    case object([String: JSONValue])
    case array([JSONValue])
    case other

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let object = try? container.decode([String: JSONValue].self) {
            self = .object(object)
        } else if let array = try? container.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .other
        }
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
}
