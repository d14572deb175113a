// SPDX-License-Identifier: Apache-2.0
public import RefrainCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Date {
    /// Makes the date of an instant, such as ``HTTPError/retryAfterDate``, to the precision of a `Double`.
    public init(_ instant: WallClock.Instant) { self.init(timeIntervalSince1970: instant.sinceEpoch.inSeconds) }
}
