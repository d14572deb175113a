// SPDX-License-Identifier: Apache-2.0
import LibFuzzer
public import RefrainCore

/// The fuzzer's callback, which answers 0.
public typealias FuzzCallback = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

/// Hands the process over to libFuzzer, which reads the command line.
public func fuzz(_ callback: FuzzCallback) {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    _ = LLVMFuzzerRunDriver(&count, &arguments, callback)
}

/// The lines of a field, parted by the byte FF, which no text holds.
public func lines(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [String] {
    UnsafeBufferPointer(start: start, count: count)
        .split(separator: 0xFF, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
}

/// A fixed wall clock, so that findings can be repeated: 3 June 2019, 11:00:00.
public let wallClock = WallClock.Instant(sinceEpoch: .seconds(1_559_559_600))

/// Whether a wait is one that clocks take.
public func isDelay(_ duration: Duration) -> Bool { duration >= .zero && duration <= .longestDelay }
