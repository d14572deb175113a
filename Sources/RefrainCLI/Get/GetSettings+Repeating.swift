internal import Refrain

/// Which jobs of a list may be made again.
extension GetSettings {
    /// Whether the idempotency key of a job is kept in the state, so that another run sends the same one.
    func storesKey(of job: Job) -> Bool {
        if job.request.key != nil || template.generatesKeys { return true }
        return job.request.isLine && !template.method(of: job.request).isIdempotent
    }

    /// Whether a job that is done can be made again, because it changes nothing on the server.
    func canRepeat(_ job: Job) -> Bool {
        template.method(of: job.request).isSafe && job.request.body == nil && !template.hasBody && !storesKey(of: job)
    }
}
