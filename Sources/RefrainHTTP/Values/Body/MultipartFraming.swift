/// The framing of multipart bodies (RFC 2046 §5.1, RFC 7578, WHATWG HTML Standard §4.10.21.8).
enum MultipartFraming {
    /// The delimiter and the head of a part.
    static func head(of part: HTTPBody.Part, _ boundary: String) throws(InvalidArgument) -> [UInt8] {
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(escaped(normalized(part.name)))\""
        if let filename = part.filename { head += "; filename=\"\(escaped(filename))\"" }
        head += "\r\n"
        if let contentType = part.body.contentType {
            guard !contentType.isEmpty, HTTPToken.isValidFieldValue(contentType) else {
                throw InvalidArgument("contentType", is: contentType, expected: "a media type such as image/png")
            }
            head += "Content-Type: \(contentType)\r\n"
        }
        return Array((head + "\r\n").utf8)
    }

    /// Checks a boundary: 1 to 70 characters of RFC 2046's set, not ending in a space.
    static func checked(_ boundary: String) throws(InvalidArgument) -> String {
        let bytes = boundary.utf8
        guard (1...70).contains(bytes.count), bytes.last != UInt8(ascii: " "), bytes.allSatisfy(isBoundaryByte) else {
            throw InvalidArgument(
                "boundary",
                is: boundary,
                expected: "1 to 70 letters, digits, spaces or any of '()+_,-./:=?, and not end with a space"
            )
        }
        return boundary
    }

    /// A boundary of 112 random bits.
    static func randomBoundary() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = [generator.next(), generator.next()].map { (half: UInt64) in
            let text = String(half, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        // As long as Alamofire's, so that code which counts the bytes of its forms finds the same number.
        return "refrain" + digits.joined().prefix(28)
    }

    /// The boundary as a parameter value, quoted if it is not a token.
    static func quotedIfNeeded(_ boundary: String) -> String {
        HTTPToken.isValid(boundary) ? boundary : "\"\(boundary)\""
    }

    /// A name with its line breaks normalized to CR LF, as forms send them.
    private static func normalized(_ name: String) -> String {
        var scalars = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\r": scalars.append(contentsOf: "\r\n".unicodeScalars)
            case "\n" where previous == "\r": break
            case "\n": scalars.append(contentsOf: "\r\n".unicodeScalars)
            default: scalars.append(scalar)
            }
            previous = scalar
        }
        return String(scalars)
    }

    /// A name or file name with quotes and line breaks percent-encoded.
    private static func escaped(_ name: String) -> String {
        name.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            case "\"": escaped += "%22"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isBoundaryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default:
            "'()+_,-./:=? ".utf8.contains(byte)
        }
    }
}
