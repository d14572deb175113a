#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

enum Thread {
    /// Leaves the processor to others for a moment, in loops that wait for the other end of a socket.
    static func pause() { usleep(500) }

    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    static func wallNow() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Runs `count` bodies at the same time on threads of their own, and waits for all of them.
func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    final class Work: Sendable {
        let index: Int
        let body: @Sendable (Int) -> Void
        init(_ index: Int, _ body: @escaping @Sendable (Int) -> Void) {
            self.index = index
            self.body = body
        }
    }
    var threads: [pthread_t] = []
    for index in 0..<count {
        let work = Unmanaged.passRetained(Work(index, body)).toOpaque()
        #if canImport(Darwin)
            var thread: pthread_t?
            pthread_create(
                &thread,
                nil,
                { argument in
                    let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                    work.body(work.index)
                    return nil
                },
                work
            )
            if let thread { threads.append(thread) }
        #else
            var thread = pthread_t()
            pthread_create(
                &thread,
                nil,
                { argument in
                    guard let argument else { return nil }
                    let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                    work.body(work.index)
                    return nil
                },
                work
            )
            threads.append(thread)
        #endif
    }
    for thread in threads { pthread_join(thread, nil) }
}
