// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An error of a queue or of its store.
///
/// What becomes of a single request is not an error of the queue: see ``RequestQueue/Item/Outcome``.
public struct QueueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The file or the server cannot be opened.
        case cannotOpen
        /// The store cannot be written.
        case readOnly
        /// There is no space left for the store.
        case full
        /// The file is damaged, or is not a database.
        case damaged
        /// The tables of the store are not those of a queue.
        case foreign
        /// A newer version of this library has written the store.
        case newerVersion
        /// Another process has held the store for too long.
        case busy
        /// The connection to the store was lost.
        case disconnected
        /// The request cannot be stored; nothing was.
        case invalidRequest
        /// The body is too large for the store, and is not a file.
        case bodyTooLarge
        /// No item has this identifier, or its state does not allow the change.
        case noSuchItem
        /// Any other failure of the store.
        case storeFailed
    }

    /// The kind of the error.
    public let code: Code
    /// A sentence with the cause, and with the remedy if there is one.
    public let description: String

    /// Makes an error, for tests of code that handles one.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension QueueError: LocalizedError {
    /// The ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension QueueError {
    /// Whether the store may be usable a moment later.
    var isTransient: Bool { code == .busy || code == .disconnected }
}
