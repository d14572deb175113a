internal import CurlShim
package import RefrainHTTP

/// Dates as the command line of curl takes them.
package enum CurlDate {
    /// Parses a date in any of the forms that `curl_getdate` reads, in UTC unless it names a zone; nil for other texts.
    package static func parse(_ text: String) -> WallClock.Instant? {
        let seconds = curl_getdate(text, nil)
        return seconds == -1 ? nil : WallClock.Instant(sinceEpoch: .seconds(seconds))
    }
}
