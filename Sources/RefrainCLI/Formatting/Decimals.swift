/// Numbers with a fixed number of decimals.
enum Decimals {
    /// A number rounded to so many places (0 to 9); what is too large for that is written as it is.
    static func text(_ number: Double, places: Int) -> String {
        let places = min(max(places, 0), 9)
        let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
        let scaled = (number * scale).rounded()
        guard scaled.isFinite, scaled.magnitude < 1e15 else { return "\(number)" }
        let units = Int64(scaled.magnitude)
        let divisor = Int64(scale)
        let sign = scaled < 0 ? "-" : ""
        guard places > 0 else { return "\(sign)\(units)" }
        let fraction = String(units % divisor)
        return "\(sign)\(units / divisor)." + String(repeating: "0", count: places - fraction.count) + fraction
    }
}
