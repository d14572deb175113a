// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The remaining requests: the known ones, then those of a list that is being read.
struct JobQueue: Sendable {
    /// The jobs with rows of the state.
    ///
    /// The next one is the last element, so that taken jobs are released.
    private var known: [FetchJob] = []
    /// The jobs without rows; the next one is the last.
    private var unplanned: [FetchJob]
    /// The requests without jobs; the next one is the last.
    private var requests: [ListedRequest]
    /// The number of requests, without those of a list that is being read.
    private(set) var count: Int
    private var skipped = 0
    /// The jobs that other runs have; they are looked up again when nothing else is left.
    private var held: [FetchJob] = []
    /// When that is; nil: at once.
    private var nextLook: ContinuousClock.Instant?
    /// Makes the jobs.
    let list: Locked<JobList>
    /// The list that is being read; nil: there is none, or it has ended.
    private(set) var stream: URLStream?
    /// The number of jobs that were taken, which is the number of the next one.
    private(set) var taken = 0
    /// Whether a part of the list could not be looked up.
    private var isCut = false

    /// Makes the queue of the jobs, or of the requests, whose first jobs are made here.
    ///
    /// - Throws: ``UsageError`` for a request that conflicts with the options.
    init(
        _ settings: GetSettings,
        unplanned: consuming [FetchJob],
        requests: consuming [ListedRequest]
    ) throws(UsageError) {
        let isShared = settings.state.shared != nil
        partSize = isShared ? max(16, 2 * settings.transports.concurrency) : 500
        lowWater = isShared ? settings.transports.concurrency : 300
        stream = settings.readsStandardInput ? URLStream() : nil
        // In place: a second list of 10,000 requests takes 1.5 MB.
        unplanned.reverse()
        requests.reverse()
        var list = settings.jobList
        list.reserveCapacity(requests.count)
        if unplanned.isEmpty { unplanned = try list.add(Self.taken(partSize, from: &requests)).reversed() }
        count = unplanned.count + requests.count
        self.unplanned = unplanned
        self.requests = requests
        self.list = Locked(list)
    }

    /// Whether the next job must come from the list.
    var needsLine: Bool { known.isEmpty && unplanned.isEmpty && requests.isEmpty && stream != nil }

    /// How many jobs can be taken.
    var ready: Int { known.count }

    /// The number of rows that are looked up at a time: a few milliseconds of work.
    ///
    /// Fewer where they are claimed, so that another run does not wait for the rest of this one.
    private let partSize: Int
    /// The next part is looked up when no more than this is ready.
    private let lowWater: Int
    /// How long the jobs of other runs are left alone.
    private static let lookInterval = Duration.seconds(1)

    /// Jobs whose rows of the state are to be looked up together, and the requests that follow them in the list.
    struct Part: Sendable {
        fileprivate let jobs: [FetchJob]
        fileprivate let requests: [ListedRequest]
        fileprivate let list: Locked<JobList>

        /// Looks the rows up, and makes the jobs of the requests meanwhile.
        func planned(by plan: RunPlan) async -> Result<Planned, UsageError> {
            async let made = Result { () throws(UsageError) in
                try list.withLock { list throws(UsageError) in try list.add(requests) }
            }
            let planned = await Self.planned(jobs, by: plan)
            let further = await made
            do throws(UsageError) {
                return .success(Planned(jobs: try planned.get(), further: try further.get(), count: requests.count))
            } catch {
                return .failure(error)
            }
        }

        private static func planned(_ jobs: [FetchJob], by plan: RunPlan) async -> Result<[FetchJob], UsageError> {
            do throws(UsageError) {
                return .success(try await plan.planned(jobs))
            } catch {
                return .failure(error)
            }
        }
    }

    /// What has become of a part.
    struct Planned: Sendable {
        /// The jobs with their rows.
        fileprivate let jobs: [FetchJob]
        /// Those that were made of the requests.
        fileprivate let further: [FetchJob]
        /// The number of these requests.
        fileprivate let count: Int

        /// How many of the requests were duplicates.
        var duplicates: Int { count - further.count }
    }

    /// Whether the next part must be looked up.
    var wantsPart: Bool { known.count <= lowWater && !(unplanned.isEmpty && requests.isEmpty) }

    /// How many jobs other runs have, if nothing else is left to look up.
    var heldCount: Int { known.isEmpty && unplanned.isEmpty && requests.isEmpty ? held.count : 0 }

    /// Removes and returns the next part to look up; nil if it is not due.
    mutating func takeUnplanned() -> Part? {
        guard wantsPart else { return takeHeld() }
        let jobs = Self.taken(partSize, from: &unplanned)
        // The jobs of the next part, made while this one is looked up.
        let further = unplanned.isEmpty ? Self.taken(partSize, from: &requests) : []
        return Part(jobs: jobs, requests: further, list: list)
    }

    private mutating func takeHeld() -> Part? {
        guard heldCount > 0, nextLook.map({ .now >= $0 }) ?? true else { return nil }
        let jobs = Self.taken(partSize, from: &held)
        if held.isEmpty { nextLook = .now + Self.lookInterval }
        return Part(jobs: jobs, requests: [], list: list)
    }

    private static func taken<Element>(_ count: Int, from elements: inout [Element]) -> [Element] {
        let part = Array(elements.suffix(count).reversed())
        elements.removeLast(part.count)
        return part
    }

    /// Adds what has become of a part, in the order of the list.
    ///
    /// - Parameter isQuiet: whether those that were done earlier are passed over, since nothing is said of them.
    /// - Returns: the number of these.
    @discardableResult
    mutating func add(_ part: Planned, isQuiet: Bool = false) -> Int {
        count -= part.duplicates
        unplanned.insert(contentsOf: part.further.reversed(), at: 0)
        let done = part.jobs.count { $0.action == .skip }
        skipped += done
        held += part.jobs.filter { $0.action == .wait }
        let rest = part.jobs.filter { $0.action != .wait && !(isQuiet && $0.action == .skip) }
        known.insert(contentsOf: rest.reversed(), at: 0)
        return isQuiet ? done : 0
    }

    /// Adds a job that another run has taken.
    mutating func hold(_ job: FetchJob) { held.append(job) }

    /// Drops the requests that were not looked up.
    mutating func dropUnplanned() { (unplanned, requests, held, isCut) = ([], [], [], true) }

    /// Whether all requests of the list have been taken in.
    var isReadToEnd: Bool { unplanned.isEmpty && requests.isEmpty && stream == nil && !isCut }

    /// The number of requests that were done in an earlier run, once, when it is known for all; nil otherwise.
    mutating func takeSkipped() -> (skipped: Int, of: Int)? {
        guard unplanned.isEmpty, requests.isEmpty, held.isEmpty, skipped > 0 else { return nil }
        defer { skipped = 0 }
        return (skipped, count)
    }

    /// Takes the next job, where one is known, and its number.
    mutating func next() -> (job: FetchJob, number: Int)? {
        guard let job = known.popLast() else { return nil }
        defer { taken += 1 }
        return (job, taken)
    }

    /// Adds jobs of a list that is being read, with their rows.
    mutating func add(listed jobs: [FetchJob]) {
        held += jobs.filter { $0.action == .wait }
        known.insert(contentsOf: jobs.filter { $0.action != .wait }, at: 0)
    }

    /// Records the end of the list.
    mutating func endStream() { stream = nil }
}

/// The processors of the machine.
enum Processors {
    /// Whether there is more than one.
    static let areSeveral = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1
}
