// SPDX-License-Identifier: Apache-2.0
/// What is called a million times: in a module of its own, as a user's service is, so that no caller sees into it.
public final class Operations: @unchecked Sendable {
    // @unchecked Sendable: one task at a time uses it; the runs of a benchmark follow each other.
    private var calls = 0
    private let step: Int

    /// Makes the operations; the value that they return is only known while the program runs.
    @inline(never)
    public init(step: Int) { self.step = step }

    /// Succeeds at once, every time.
    public var succeeding: @Sendable () async throws -> Int {
        @inline(never) get { { self.step } }
    }

    /// Fails every other call, beginning with the first: a loop round it fails once and then succeeds.
    public var failingOnce: @Sendable () async throws -> Int {
        @inline(never)
        get {
            {
                self.calls &+= 1
                guard self.calls & 1 == 0 else { throw Failure() }
                return self.step
            }
        }
    }

    private struct Failure: Error {}
}
