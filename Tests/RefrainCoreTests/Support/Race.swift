// SPDX-License-Identifier: Apache-2.0
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Runs `body` on so many threads that start together, and returns when all have ended.
func race(_ count: Int, _ body: @escaping @Sendable () -> Void) {
    final class Start: Sendable {
        let body: @Sendable () -> Void
        let ready = Counter()
        let count: Int
        init(_ count: Int, _ body: @escaping @Sendable () -> Void) {
            self.count = count
            self.body = body
        }
    }
    let start = Start(count, body)
    let threads = (0..<count).compactMap { _ -> pthread_t? in
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let context = Unmanaged.passRetained(start).toOpaque()
        let status = pthread_create(
            &thread,
            nil,
            { context in
                #if canImport(Darwin)
                let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                #else
                guard let context else { return nil }
                let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                #endif
                start.ready.next()
                // No event: to wake threads takes longer than what they race for.
                while start.ready.value < start.count { sched_yield() }
                start.body()
                return nil
            },
            context
        )
        return status == 0 ? thread : nil
    }
    #expect(threads.count == count)
    for thread in threads { pthread_join(thread, nil) }
}
