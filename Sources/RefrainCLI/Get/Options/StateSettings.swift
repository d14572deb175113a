// SPDX-License-Identifier: Apache-2.0

/// Where a run keeps its state, and what it does with that of an earlier run.
struct StateSettings: Sendable {
    /// The file of the state; nil: none is kept.
    let file: String?
    /// The database of the state, which other runs share; nil: it is a file, or there is none.
    let shared: SharedStateLocation?
    /// The option that requires the state, for messages.
    let option: String
    /// The lists of the run, as the state identifies them; empty: only the command line.
    let listName: String
    /// The lists of the run if all requests are in files; nil: the next run cannot know what it lacks.
    let rereadList: String?
    /// Whether completed requests are revalidated.
    let refreshes: Bool
    /// Whether requests whose outcome is unknown are sent again.
    let resendsUnknown: Bool

    init(
        _ arguments: Arguments,
        _ destination: Destination,
        _ requests: [ListedRequest]
    ) throws(UsageError) {
        (listName, rereadList) = URLList.names(arguments)
        refreshes = arguments.has(.refresh)
        resendsUnknown = arguments.has(.resendUnknown)
        shared = try SharedStateLocation(arguments.last(.state), arguments)
        if shared != nil {
            switch destination {
            case .each, .remoteNames:
                throw UsageError(
                    "--state \(shared?.shown ?? ""): the files need --output-dir DIR, since other runs share the list"
                )
            default: (file, option) = (nil, "--state")
            }
        } else if let path = try arguments.file(.state) {
            (file, option) = (path, "--state")
        } else if case .folder(let folder) = destination {
            (file, option) = (Directory.path(folder, Directory.stateName), "--output-dir")
        } else if let list = arguments.last(.from), list != "-", requests.contains(where: \.isLine) {
            // A list of requests that must not be sent twice has its state beside it.
            (file, option) = (list + Directory.stateName, "--from")
        } else {
            (file, option) = (nil, "")
        }
        if refreshes, shared != nil { throw UsageError("--refresh needs a state of this machine's own") }
        if refreshes, file == nil { throw UsageError("--refresh needs a state: --output-dir DIR or --state FILE") }
    }

    /// Whether a state is kept.
    var isKept: Bool { file != nil || shared != nil }

    /// Where a request was done that this run skips.
    var inOtherRuns: String { shared == nil ? "in an earlier run" : "in earlier or other runs" }
}
