/// Encodes Unicode labels as ASCII (RFC 3492).
enum Punycode {
    private static let base = 36
    private static let smallestThreshold = 1
    private static let largestThreshold = 26

    /// Encodes the characters of a label.
    ///
    /// Quadratic in the length of a label, which is at most a few dozen characters.
    static func encode(_ label: [Unicode.Scalar]) -> String {
        var output = label.filter(\.isASCII).map { UInt8(truncatingIfNeeded: $0.value) }
        let plain = output.count
        if plain > 0 { output.append(UInt8(ascii: "-")) }
        var handled = plain
        var code = 0x80
        var delta = 0
        var bias = 72
        while let next = label.lazy.map({ Int($0.value) }).filter({ $0 >= code }).min() {
            delta += (next - code) * (handled + 1)
            code = next
            for scalar in label {
                if scalar.value < code { delta += 1 }
                guard scalar.value == code else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == plain)
                delta = 0
                handled += 1
            }
            delta += 1
            code += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a number as a variable-length integer (RFC 3492 §3.3).
    private static func append(_ number: Int, bias: Int, to output: inout [UInt8]) {
        var rest = number
        var position = base
        while true {
            let threshold = min(max(position - bias, smallestThreshold), largestThreshold)
            guard rest >= threshold else { break }
            let range = base - threshold
            output.append(digit(threshold + (rest - threshold) % range))
            rest = (rest - threshold) / range
            position += base
        }
        output.append(digit(rest))
    }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var steps = 0
        while delta > (base - smallestThreshold) * largestThreshold / 2 {
            delta /= base - smallestThreshold
            steps += base
        }
        return steps + base * delta / (delta + 38)
    }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? Int(UInt8(ascii: "a")) + value : Int(UInt8(ascii: "0")) + value - 26)
    }
}
