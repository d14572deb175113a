internal import Refrain

/// Speeds and rates as curl writes them.
enum SpeedText {
    /// Reads bytes per second: a number, and k, M or G for powers of 1024.
    static func bytes(_ text: String, option: String) throws(UsageError) -> Int {
        let (number, unit) = ASCIINumber.split(text)
        let factors: [String: Double] = ["": 1, "b": 1, "k": 0x1p10, "m": 0x1p20, "g": 0x1p30]
        guard let value = ASCIINumber.decimal(number), let factor = factors[unit.lowercased()] else {
            throw .badValue(text, of: option, "is no speed; write 500k or 2M")
        }
        let speed = value * factor
        guard speed >= 1, speed < 0x1p62 else { throw .badValue(text, of: option, "is out of range") }
        return Int(speed)
    }

    /// Reads a rate of requests as the time from the beginning of one to that of the next; without a unit per hour.
    static func interval(_ text: String, option: String) throws(UsageError) -> Duration {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let units: [String: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let unit = parts.count > 1 ? String(parts[1]) : "h"
        guard let number = parts.first.flatMap({ ASCIINumber.whole($0) }), number > 0, let seconds = units[unit] else {
            throw .badValue(text, of: option, "is no rate; write 50/s, 10/m or 100/h")
        }
        return .seconds(seconds / Double(number))
    }
}
