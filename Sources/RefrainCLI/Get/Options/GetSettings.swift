// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// What a run of `refrain get` works with, made from its options: lists were read, and transports are ready.
struct GetSettings: Sendable {
    let options: GetOptions
    /// The command line, for messages; nil where it has secrets.
    var commandLine: String?
    let template: RequestTemplate
    let transports: Transports
    let destination: Destination
    let state: StateSettings
    /// The digests that responses are compared with.
    let digests: DigestSettings
    let cookies: CookieSettings
    let display: DisplaySettings
    /// Makes the jobs of further requests.
    private(set) var jobList: JobList
    /// The requests that are known before anything is sent, as jobs.
    private var jobs: [FetchJob] = []
    /// The requests whose jobs are made while the first ones are fetched; some may be duplicates.
    private var requests: [ListedRequest] = []
    /// The number of both.
    let jobCount: Int
    /// Whether further requests come from standard input.
    let readsStandardInput: Bool
    /// Up to this many requests are all validated before the first one is sent, which takes about a millisecond.
    private static let fewRequests = 250

    init(_ arguments: Arguments) throws(UsageError) {
        Input.limit(to: try RequestTemplate.timeOfCall(arguments))
        options = try GetOptions(arguments)
        template = try RequestTemplate(arguments)
        transports = try Transports(arguments, options, omittedFields: template.omittedFields)
        let given = try GivenRequests(arguments)
        readsStandardInput = given.areStreamed
        destination = try Destination(arguments, numberOfURLs: given.count)
        try options.check(arguments, given, destination)
        state = try StateSettings(arguments, destination, given.requests)
        digests = try DigestSettings(arguments, destination, numberOfURLs: given.count)
        cookies = try CookieSettings(arguments)
        display = try DisplaySettings(arguments, destination, numberOfURLs: given.count)
        jobList = JobList(
            destination,
            template,
            isFlat: arguments.has(.flat),
            hasState: state.isKept,
            digests: digests
        )
        jobList.reserved = try OutputCollisions.reserved(arguments, destination)
        if given.requests.count > Self.fewRequests, jobList.canWait(given.requests) {
            requests = given.requests
        } else {
            jobs = try jobList.add(given.requests)
        }
        jobCount = jobs.count + requests.count
    }

    /// Whether there is only one request.
    var isAlone: Bool { jobCount == 1 && !readsStandardInput }

    /// Removes and returns the requests that are known before anything is sent, so that they are stored once.
    mutating func takeJobs() -> ([FetchJob], [ListedRequest]) {
        defer { (jobs, requests) = ([], []) }
        return (jobs, requests)
    }
}

// MARK: Which jobs may be made again

extension GetSettings {
    /// Whether the idempotency key of a job is kept in the state, so that another run sends the same one.
    ///
    /// Only keys that the user asks for: they say that the server does a request with a key once.
    func storesKey(of job: FetchJob) -> Bool { job.request.key != nil || template.sendsKeys }

    /// Whether a job must not be sent again once the server may have done it.
    func isSentOnce(_ job: FetchJob) -> Bool {
        !template.method(of: job.request).isIdempotent && !template.isReplayUnsafe && !storesKey(of: job)
            && !template.namesKey(of: job.request)
    }

    /// Whether a job counts on its key, which the server forgets.
    func dependsOnKey(_ job: FetchJob) -> Bool {
        !template.method(of: job.request).isIdempotent && !template.isReplayUnsafe && storesKey(of: job)
    }

    /// Whether a job would be done twice by a server that got it twice, but for its key.
    func mustNotRepeat(_ job: FetchJob) -> Bool { dependsOnKey(job) || isSentOnce(job) }

    /// Whether a job that is done can be made again, because it changes nothing on the server.
    func canRepeat(_ job: FetchJob) -> Bool {
        template.method(of: job.request).isSafe && job.request.body == nil && !template.hasBody && !storesKey(of: job)
    }
}
