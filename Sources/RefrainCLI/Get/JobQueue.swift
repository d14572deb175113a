/// The requests that are still to be made: those that are known, then those of a list that is being read.
struct JobQueue {
    /// The next one is the last: what is taken is not kept.
    private var known: [GetSettings.Job]
    private var list: JobList
    /// The list that is being read; nil: there is none, or it has come to its end.
    private(set) var stream: URLStream?
    /// How many jobs were taken, which is the number of the next one.
    private(set) var taken = 0

    init(_ settings: GetSettings, known: [GetSettings.Job]) {
        self.known = known.reversed()
        list = settings.jobList
        stream = settings.readsStandardInput ? URLStream() : nil
    }

    /// Whether the next job has to come from the list.
    var needsLine: Bool { known.isEmpty && stream != nil }

    /// Takes the next job, where one is known.
    mutating func next() -> GetSettings.Job? {
        guard let job = known.popLast() else { return nil }
        taken += 1
        return job
    }

    /// Adds a request of the list; false where the list has had it already.
    mutating func add(_ request: ListedRequest, to plan: RunPlan) throws(UsageError) -> Bool {
        guard let job = try list.add(request) else { return false }
        known.insert(contentsOf: try plan.planned([job]), at: 0)
        return true
    }

    /// Notes that the list has come to its end.
    mutating func endStream() { stream = nil }
}
