extension RequestPipeline {
    /// Cancels what is in flight, resets every stage, and returns when that is done.
    func reset() async {
        await admission.reset { [self] in
            guard let coalescing else { return await resetStages() }
            await coalescing.reset { await self.resetStages() }
        }
    }

    private func resetStages() async {
        await redirect.reset()
        await retry.reset()
        await throttle?.reset()
        await transport.reset()
    }
}
