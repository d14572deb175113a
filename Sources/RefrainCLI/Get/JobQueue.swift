/// The requests that are still to be made: those that are known, then those of a list that is being read.
struct JobQueue {
    /// Those whose rows of the state are known.
    ///
    /// The next one is the last: what is taken is not kept.
    private var known: [GetSettings.Job] = []
    /// Those whose rows of the state are still to be looked up; the next one is the last.
    private var unplanned: [GetSettings.Job]
    /// How many there are, without those of a list that is being read.
    let count: Int
    private var skipped = 0
    private var list: JobList
    /// The list that is being read; nil: there is none, or it has come to its end.
    private(set) var stream: URLStream?
    /// How many jobs were taken, which is the number of the next one.
    private(set) var taken = 0

    init(_ settings: GetSettings, unplanned: consuming [GetSettings.Job]) {
        count = unplanned.count
        self.unplanned = unplanned.reversed()
        list = settings.jobList
        stream = settings.readsStandardInput ? URLStream() : nil
    }

    /// Whether the next job has to come from the list.
    var needsLine: Bool { known.isEmpty && unplanned.isEmpty && stream != nil }

    /// So many rows are looked up at a time: about a millisecond of work.
    private static let partSize = 250
    /// The next part is looked up when no more than this is ready.
    private static let lowWater = 300

    /// Takes the next part of those whose rows are to be looked up, where it is time to.
    mutating func takeUnplanned() -> [GetSettings.Job]? {
        guard !unplanned.isEmpty, known.count <= Self.lowWater else { return nil }
        let part = Array(unplanned.suffix(Self.partSize).reversed())
        unplanned.removeLast(part.count)
        return part
    }

    /// Adds jobs with their rows, in the order of the list.
    mutating func add(planned jobs: [GetSettings.Job]) {
        skipped += jobs.count { $0.action == .skip }
        known.insert(contentsOf: jobs.reversed(), at: 0)
    }

    /// Gives up what was not looked up.
    mutating func dropUnplanned() { unplanned = [] }

    /// How many were done in an earlier run, once that is known of all; nil: it is not, was said, or none was.
    mutating func takeSkipped() -> Int? {
        guard unplanned.isEmpty, skipped > 0 else { return nil }
        defer { skipped = 0 }
        return skipped
    }

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
