// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// One request, and the file that its response goes to, if any.
///
/// A class, because there are many, and each is passed between tasks.
final class FetchJob: Sendable {
    /// The action for the request.
    enum Action: Sendable {
        /// It is sent.
        case fetch
        /// It is sent again, although the server may have done it.
        case resend
        /// It was done in an earlier run, and is not sent again.
        case skip
        /// It was done in an earlier run, and is revalidated: `--refresh`.
        case revalidate
        /// Its file belongs to another request, and is not changed.
        case refuse
        /// An earlier run has sent it, and its outcome is unknown.
        case leave
        /// Another run has it, and this one waits for that one's result, or for the end of its lease.
        case wait
        /// Another run has tried it since this one began, and it has failed; or it has ended its runs.
        case giveUp

        /// Whether the request is sent.
        var isChange: Bool { [.fetch, .resend, .revalidate].contains(self) }
    }

    let request: ListedRequest
    /// The identity of the request in the state.
    let identity: String
    /// The identity that earlier versions gave a request that is not safe; nil: it is safe.
    let oldIdentity: String?
    /// The path of the file.
    let file: String?
    /// The file, relative to the output folder.
    let name: String?
    /// The digest that its content must have; nil: none was given.
    let digest: ContentDigest?
    /// Its row in the state.
    let entry: ListEntry?
    let action: Action

    init(
        request: ListedRequest,
        identity: String,
        oldIdentity: String? = nil,
        file: String?,
        name: String?,
        digest: ContentDigest?
    ) {
        self.request = request
        self.identity = identity
        self.oldIdentity = oldIdentity
        self.file = file
        self.name = name
        self.digest = digest
        entry = nil
        action = .fetch
    }

    /// A job of which the state says what is to be done.
    init(_ job: FetchJob, entry: ListEntry, action: Action) {
        request = job.request
        identity = job.identity
        oldIdentity = job.oldIdentity
        file = job.file
        name = job.name
        digest = job.digest
        self.entry = entry
        self.action = action
    }
}
