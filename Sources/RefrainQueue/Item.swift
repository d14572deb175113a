// SPDX-License-Identifier: Apache-2.0
public import RefrainCore
public import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension RequestQueue {
    /// A request of a queue, and what has become of it.
    public struct Item: Sendable, Identifiable {
        /// What has become of a request.
        public enum Outcome: String, Hashable, Sendable, CaseIterable, Codable {
            /// It waits for its turn, or for its next attempt.
            case ready
            /// A worker has it.
            case claimed
            /// It was answered with a success.
            case done
            /// It was answered with a final failure, or its attempts are used up.
            case failed
            /// It may have been processed, and must not be sent again; a person settles it.
            case unknown
        }

        /// The identifier; requests of one lane are sent in its order.
        public let id: Int64
        /// What has become of it.
        public let outcome: Outcome
        /// Method and URL.
        public let request: String
        /// The lane that keeps an order, or nil.
        public let lane: String?
        /// The name by which duplicates are refused, or nil.
        public let name: String?
        /// The value of the field `Idempotency-Key`, or nil.
        public let key: String?
        /// When it may be sent; nil once it has an outcome, or while a worker has it.
        public let due: WallClock.Instant?
        /// When it may first have been sent; nil: never.
        public let begun: WallClock.Instant?
        /// When its state changed last.
        public let changed: WallClock.Instant
        /// The worker that has it, as `SLOT/PID` or `HOST/PID`.
        public let owner: String?
        /// How many workers have had it under way since its last result.
        ///
        /// More than one tells of workers that were killed.
        public let claims: Int
        /// The status of the last response.
        public let status: HTTPStatus?
        /// Why it has failed, is unknown or waits.
        public let error: String?
        /// Every attempt whose result was stored, in order.
        public let attempts: [AttemptRecord]
    }
}

/// The records of a row: JSON, one attempt per line, so that a result is added without reading those before it.
enum RecordText {
    /// The lines of attempts that follow `earlier` others.
    static func encode(_ attempts: [AttemptRecord], after earlier: Int) -> String {
        let encoder = JSONEncoder()
        return attempts.reduce(into: "") { text, attempt in
            var attempt = attempt
            attempt.number = attempt.number.addingSaturated(earlier)
            guard let line = try? encoder.encode(attempt) else { return }
            text += String(decoding: line, as: UTF8.self) + "\n"
        }
    }

    /// The attempts of a row; a line that was cut off is left out.
    static func decode(_ text: String) -> [AttemptRecord] {
        let decoder = JSONDecoder()
        return text.split(separator: "\n").compactMap { try? decoder.decode(AttemptRecord.self, from: Data($0.utf8)) }
    }
}
