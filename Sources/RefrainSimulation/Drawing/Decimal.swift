/// Numbers as text, the same on every machine.
enum Decimal {
    /// A number with so many places after the point.
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

    /// A number without places that say nothing.
    static func short(_ value: Double) -> String {
        var text = text(value, places: 3)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    /// A share as a percentage; a dash where there is none.
    static func percent(_ share: Double?) -> String {
        guard let share else { return "–" }
        // What is not all is not shown as all.
        let percent = share * 100
        return percent > 99.5 && share < 1 || percent < 0.5 && share > 0
            ? text(percent, places: 1) : text(percent, places: 0)
    }
}
