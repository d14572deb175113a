internal import Refrain

/// Which jobs of a list may be made again.
extension GetSettings {
    /// Whether the idempotency key of a job is kept in the state, so that another run sends the same one.
    ///
    /// Only keys that the user asks for: they say that the server does a request with a key once.
    func storesKey(of job: Job) -> Bool { job.request.key != nil || template.sendsKeys }

    /// Whether a job must not be sent again once the server may have done it.
    func isSentOnce(_ job: Job) -> Bool {
        !template.method(of: job.request).isIdempotent && !template.isReplayUnsafe && !storesKey(of: job)
            && !template.namesKey(of: job.request)
    }

    /// Whether a job counts on its key, which the server forgets.
    func dependsOnKey(_ job: Job) -> Bool {
        !template.method(of: job.request).isIdempotent && !template.isReplayUnsafe && storesKey(of: job)
    }

    /// Whether a job that is done can be made again, because it changes nothing on the server.
    func canRepeat(_ job: Job) -> Bool {
        template.method(of: job.request).isSafe && job.request.body == nil && !template.hasBody && !storesKey(of: job)
    }
}
