// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
import FoundationEssentials
import TestSupport
import Testing

/// The Linux build pays neither for FoundationNetworking nor for ICU.
@Suite("What is linked", .computing)
struct LinkageTests {
    static let forbidden: Set = [
        "libFoundation.so", "libFoundationNetworking.so", "libFoundationInternationalization.so",
        "libFoundationXML.so", "lib_FoundationICU.so",
    ]

    /// The folder of the build that these tests run from; the executable is built beside them.
    static let products: String = {
        let path =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
        return path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    }()

    @Test("refrain needs no Foundation, no FoundationNetworking and no ICU, nor does any library that it needs")
    func executableIsLean() throws {
        let libraries = try SharedObject.closure(of: Self.products + "/refrain")
        // Proof that the reader read: an empty answer would pass the next line.
        #expect(libraries.isSuperset(of: ["libc.so.6", "libcurl.so.4", "libswiftCore.so"]))
        #expect(libraries.intersection(Self.forbidden) == [])
    }

    @Test("a library that is needed by way of another one is found")
    func closureIsTransitive() throws {
        let libraries = try SharedObject.closure(of: Self.products + "/refrain")
        // libcurl needs libnghttp2, refrain itself does not.
        #expect(try !SharedObject(path: Self.products + "/refrain").needed.contains("libnghttp2.so.14"))
        #expect(libraries.contains("libnghttp2.so.14"))
    }
}
#endif
