/// The time for which rows of small files are collected, so that they are written together.
enum RowPause {
    /// Waits until they are written; returns at once where the task was cancelled.
    static func end() async { try? await ContinuousClock().sleep(for: RunPlan.writeInterval) }
}
