// SPDX-License-Identifier: Apache-2.0

/// The requests that a command line names: its URLs, and those of its lists.
struct GivenRequests: Sendable {
    /// Those that are known before anything is sent.
    let requests: [ListedRequest]
    /// Whether further ones come from standard input, which is read while the first of them are made.
    let areStreamed: Bool

    /// How many there are, for options that are for one; a list that is being read counts as several.
    var count: Int { areStreamed ? max(2, requests.count) : requests.count }

    init(_ arguments: Arguments) throws(UsageError) {
        areStreamed = Self.streamsList(arguments)
        let lists = arguments.all(.from)
        guard lists.count(where: { $0 == "-" }) + Self.readersOfStandardInput(arguments) <= 1 else {
            throw UsageError("only one option can read standard input")
        }
        var requests: [ListedRequest] = []
        for word in arguments.positionals {
            let url = CommandLineURL.completed(word, arguments)
            try CommandLineURL.check(url, arguments)
            requests.append(ListedRequest(url: url, position: .commandLine))
        }
        for list in lists where !areStreamed || list != "-" {
            let listed = try URLList.read(list)
            // Without a copy of a list that is the only one, which may be long.
            requests = requests.isEmpty ? listed : requests + listed
        }
        guard !requests.isEmpty || areStreamed else {
            throw UsageError(
                lists.isEmpty
                    ? "which URL? Give one, or a list with --from"
                    : "--from: \(lists.joined(separator: ", ")) names no URL"
            )
        }
        if arguments.values[.idempotencyKey]?.last?.isEmpty == false, requests.count > 1 {
            throw UsageError(
                "--idempotency-key=KEY names one request, but there are \(requests.count) URLs; leave KEY out"
            )
        }
        self.requests = requests
    }

    /// Whether a list is read line by line: from standard input, unless that is a file or an option is for one URL.
    private static func streamsList(_ arguments: Arguments) -> Bool {
        guard arguments.all(.from).contains("-"), let input = try? Input(path: "-"), input.canBeRead,
            input.fileSize == nil
        else { return false }
        let namesKey = arguments.values[.idempotencyKey]?.last?.isEmpty == false
        return !namesKey && !arguments.has(.output) && !arguments.has(.timelineSVG)
    }

    /// How many options beside lists read standard input.
    private static func readersOfStandardInput(_ arguments: Arguments) -> Int {
        arguments.given.count { name, value in
            switch name {
            case .data, .dataBinary, .json, .header, .bearer, .writeOut: value == "@-"
            case .uploadFile: value == "-" || value == "."
            case .form: value.contains("=@-") || value.contains("=<-")
            case .dataUrlencode, .urlQuery: value.hasSuffix("@-")
            default: false
            }
        }
    }
}
