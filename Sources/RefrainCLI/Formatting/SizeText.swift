// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// Sizes as they are written on the command line: `64KB`, `10MB`, `1.5GiB`.
enum SizeText {
    /// Reads a size of an option, in bytes.
    static func parse(_ text: String, option: String) throws(UsageError) -> Int {
        func refuse(_ expected: String) -> UsageError { .badValue(text, of: option, expected) }
        guard !text.hasPrefix("-") else { throw refuse("is negative") }
        let (number, unit) = ASCIINumber.split(text)
        guard let value = ASCIINumber.decimal(number) else { throw refuse("is not a size; write 500B, 64KB or 10MiB") }
        guard let factor = units[unit.uppercased()] else {
            throw refuse(
                "has the unknown unit \(Sanitized.text(String(unit))); the units are B, KB, MB, GB, TB, KiB, MiB, GiB and TiB"
            )
        }
        let total = (value * factor).rounded()
        guard total < 0x1p62 else { throw refuse("is too large") }
        guard total >= 1 else { throw refuse("must be at least one byte") }
        return Int(total)
    }

    /// A size for people, in three digits or so.
    static func short(_ bytes: Int64) -> String {
        let size = Double(bytes)
        switch bytes {
        case ..<1000: return "\(bytes) B"
        case ..<1_000_000: return "\(Decimals.text(size / 1e3, places: 1)) KB"
        case ..<1_000_000_000: return "\(Decimals.text(size / 1e6, places: 1)) MB"
        default: return "\(Decimals.text(size / 1e9, places: 2)) GB"
        }
    }

    private static let units: [String: Double] = [
        "": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
        "KIB": 0x1p10, "MIB": 0x1p20, "GIB": 0x1p30, "TIB": 0x1p40,
    ]
}

/// Speeds as curl writes them.
enum SpeedText {
    /// Reads bytes per second: a number, and k, M or G for powers of 1024.
    static func bytes(_ text: String, option: String) throws(UsageError) -> Int {
        let (number, unit) = ASCIINumber.split(text)
        let factors: [String: Double] = ["": 1, "b": 1, "k": 0x1p10, "m": 0x1p20, "g": 0x1p30]
        guard let value = ASCIINumber.decimal(number), let factor = factors[unit.lowercased()] else {
            throw .badValue(text, of: option, "is not a speed; write 500k or 2M")
        }
        let speed = value * factor
        guard speed >= 1, speed < 0x1p62 else { throw .badValue(text, of: option, "is out of range") }
        return Int(speed)
    }
}
