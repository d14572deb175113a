#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The text encodings that every platform supports, by the names that content types have for them.
package enum TextEncoding {
    /// The encoding with a name of the IANA registry or of the WHATWG Encoding Standard, in any case; `nil` for others.
    @_optimize(none)
    package static func named(_ name: String) -> String.Encoding? {
        let name = name.lowercased()
        return encodings.first { $0.names.contains(name) }?.encoding
    }

    /// The preferred name of an encoding; `nil` for one that is not in the list.
    @_optimize(none)
    package static func name(of encoding: String.Encoding) -> String? {
        encodings.first { $0.encoding == encoding }?.names.first
    }

    private static let encodings: [(encoding: String.Encoding, names: [String])] = [
        (.utf8, ["utf-8", "utf8", "unicode-1-1-utf-8"]),
        (.ascii, ["us-ascii", "ascii", "ansi_x3.4-1968", "iso646-us", "us"]),
        (.isoLatin1, ["iso-8859-1", "iso_8859-1", "iso8859-1", "iso88591", "latin1", "l1", "cp819", "ibm819"]),
        (.windowsCP1252, ["windows-1252", "cp1252", "x-cp1252"]),
        (.utf16, ["utf-16"]), (.utf16BigEndian, ["utf-16be"]), (.utf16LittleEndian, ["utf-16le"]),
        (.utf32, ["utf-32"]), (.utf32BigEndian, ["utf-32be"]), (.utf32LittleEndian, ["utf-32le"]),
    ]
}
