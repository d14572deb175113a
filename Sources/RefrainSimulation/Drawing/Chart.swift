internal import RefrainCore

/// One diagram of a picture: curves over the time of a storm.
struct Chart {
    struct Curve {
        let name: String
        let style: String
        let values: [Double]
    }

    let title: String
    let curves: [Curve]
    /// The highest value of the axis, the same for all diagrams of a row.
    let top: Double
    let interval: Double
    let duration: Double
    let trigger: ClosedRange<Double>?

    static let height = 96.0

    /// A round number that is no lower than the highest value.
    static func top(over values: [Double]) -> Double {
        let highest = max(values.max() ?? 0, 1e-9)
        var unit = 1e-6
        while unit * 10 < highest { unit *= 10 }
        let factor = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].first { $0 * unit >= highest } ?? 10
        return factor * unit
    }

    /// Draws the diagram with its upper left corner at a point.
    func lines(x left: Double, y: Double, width: Double) -> [String] {
        let bottom = y + Self.height
        func position(at time: Double) -> Double { left + min(max(time / duration, 0), 1) * width }
        func text(_ value: Double) -> String { Decimal.text(value, places: 1) }
        var lines: [String] = []
        if let trigger {
            let start = position(at: trigger.lowerBound)
            let length = max(position(at: trigger.upperBound) - start, 1.5)
            lines.append(
                "<rect class=\"trigger\" x=\"\(text(start))\" y=\"\(text(y))\" width=\"\(text(length))\" "
                    + "height=\"\(text(Self.height))\"/>"
            )
        }
        for share in [0.0, 0.5, 1.0] {
            let height = bottom - share * Self.height
            lines.append("<path class=\"grid\" d=\"M\(text(left)) \(text(height))h\(text(width))\"/>")
            lines.append(
                "<text class=\"tick end\" x=\"\(text(left - 6))\" y=\"\(text(height + 4))\">"
                    + "\(Decimal.short(share * top))</text>"
            )
        }
        lines.append("<text class=\"label\" x=\"\(text(left))\" y=\"\(text(y - 7))\">\(title)</text>")
        for curve in curves {
            var path = ""
            for (index, value) in curve.values.enumerated() {
                let x = position(at: (Double(index) + 0.5) * interval)
                let height = bottom - min(max(value / top, 0), 1) * Self.height
                path += "\(path.isEmpty ? "M" : "L")\(text(x)) \(text(height))"
            }
            lines.append("<path class=\"\(curve.style)\" d=\"\(path)\"/>")
        }
        return lines
    }
}

/// Numbers as text, the same on every machine.
enum Decimal {
    /// A number with a number of decimals.
    static func text(_ value: Double, places: Int = 2) -> String {
        guard value.isFinite, value.magnitude < 1e15 else { return value.isFinite ? "\(value)" : "–" }
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let scaled = Int64((value.magnitude * scale).rounded())
        let (whole, part) = scaled.quotientAndRemainder(dividingBy: Int64(scale))
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return "\(sign)\(whole)" }
        let digits = String(part)
        return "\(sign)\(whole).\(String(repeating: "0", count: places - digits.count))\(digits)"
    }

    /// A number without trailing zeros.
    static func short(_ value: Double) -> String {
        var text = text(value, places: 3)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    /// A share as a percentage; a dash where there is none.
    static func percent(_ share: Double?) -> String {
        guard let share else { return "–" }
        // A share below 1 is not rounded to 100 %.
        let percent = share * 100
        return percent > 99.5 && share < 1 || percent < 0.5 && share > 0
            ? text(percent, places: 1) : text(percent, places: 0)
    }
}
