// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What `--dry-run` shows: the requests that would be sent, to whom, where their bodies would go, and the policy.
struct DryRun {
    let text: String

    init(_ settings: GetSettings) throws(UsageError) {
        var settings = settings
        let policy = settings.options.policy
        let (jobs, further) = settings.takeJobs()
        var all = jobs
        all += try settings.jobList.adding(further)
        var lines: [String] = []
        for (number, job) in all.enumerated() { lines += Self.lines(settings, job, number) }
        if settings.readsStandardInput { lines.append("The requests of standard input follow when its lines come.") }
        lines.append("policy   \(policy.words)")
        if all.contains(where: { !Self.isRepeatable(settings, $0) }) {
            lines.append(
                "         a request that is not idempotent is repeated only where it cannot have been processed"
            )
        }
        if let timeout = settings.template.timeout {
            lines.append("time     \(DurationText.plain(timeout)) for each request")
        }
        if let pace = settings.options.pace.words { lines.append("pace     \(pace)") }
        if !settings.isAlone { lines.append("at once  \(settings.transports.concurrency)") }
        if let state = settings.state.file {
            lines.append("state    \(state): requests that it lists as done are not sent again")
        }
        lines.append("Nothing was sent: --dry-run.")
        text = lines.map { Sanitized.line($0) + "\n" }.joined()
    }

    private static func lines(_ settings: GetSettings, _ job: FetchJob, _ number: Int) -> [String] {
        let request: HTTPRequest
        do throws(HTTPError) {
            request = try settings.template.request(for: job.request)
        } catch {
            return ["\(SanitizedURL.shown(job.request.url)): \(error.message ?? error.code.rawValue)"]
        }
        var lines = ["\(request.method) \(SanitizedURL.shown(request.url.absoluteString))"]
        let url = request.url
        let port = url.port ?? (url.scheme == "https" ? 443 : 80)
        var host = "\(url.host() ?? ""), port \(port)" + (url.scheme == "https" ? ", over TLS" : "")
        if let socket = settings.options.unixSocket { host += ", by the socket \(socket)" }
        lines.append("  host     \(host)")
        for field in settings.template.fields(of: request) {
            lines.append("  field    \(field.name): \(SecretFields.shown(field))")
        }
        if settings.storesKey(of: job), !request.headers.contains(request.idempotencyKeyField) {
            let key = job.request.key ?? settings.template.givenKey ?? "a new key"
            lines.append("  field    \(request.idempotencyKeyField): \(key), the same for all attempts")
        }
        if !request.body.isEmpty {
            let size = request.body.length.map { SizeText.short($0) } ?? "of unknown length"
            lines.append("  body     \(size)")
        }
        lines.append("  into     \(destination(settings, job, number))")
        return lines
    }

    private static func isRepeatable(_ settings: GetSettings, _ job: FetchJob) -> Bool {
        settings.template.method(of: job.request).isIdempotent || settings.storesKey(of: job)
    }

    private static func destination(_ settings: GetSettings, _ job: FetchJob, _ number: Int) -> String {
        if let file = job.file { return file }
        switch settings.destination.destination(of: number) {
        case .nowhere: return "nothing"
        case .device(let path): return path
        default: return "standard output"
        }
    }
}
