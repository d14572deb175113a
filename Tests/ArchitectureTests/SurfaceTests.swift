import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Every row of the surface has tests that carry its part and its name, and the documentation says where they are.
@Suite("Surface")
struct SurfaceTests {
    private let rows: [SurfaceRow]
    private let tests: [SurfaceRow.Test]

    init() throws {
        let page = "Documentation/Surface.md"
        tests = try SurfaceRow.Test.all()
        if ProcessInfo.processInfo.environment["REFRAIN_PUBLISH"] == "1" {
            try SurfaceRow.linked(SourceTree.text(of: page), to: tests)
                .write(to: URL(filePath: SourceTree.root + "/" + page), atomically: true, encoding: .utf8)
        }
        rows = SurfaceRow.read(try SourceTree.text(of: page))
    }

    @Test("the three parts have their rows, and no row stands there twice")
    func parts() {
        // Rows are added for new features. None is removed: users still search for it.
        #expect(rows.count { $0.part == "A" } >= 26)
        #expect(rows.count { $0.part == "B" } >= 22)
        #expect(rows.count { $0.part == "C" } >= 4)
        #expect(Set(rows.map(\.marker)).count == rows.count)
    }

    @Test("each row has a test whose name begins with the part and the row")
    func haveTests() {
        for row in rows {
            #expect(tests.contains { $0.names(row) }, "no test's name begins with \"\(row.marker)\"")
        }
    }

    @Test("each row links its code, and exactly the files that hold its tests; REFRAIN_PUBLISH=1 writes them anew")
    func areLinked() {
        for row in rows {
            #expect(!row.code.isEmpty, "\(row.marker)no code is linked")
            for path in row.code { #expect(SourceTree.exists(path), "\(row.marker)\(path) is not there") }
            let files = Set(tests.filter { $0.names(row) }.map(\.file))
            let (missing, left) = (files.subtracting(row.tests), Set(row.tests).subtracting(files))
            #expect(missing.isEmpty, "\(row.marker)link \(missing.sorted().joined(separator: ", "))")
            #expect(left.isEmpty, "\(row.marker)no test of it is in \(left.sorted().joined(separator: ", "))")
        }
    }

    @Test("no test carries the name of a row that there is not")
    func strangers() {
        for test in tests where test.name.wholeMatch(of: /[ABC]: .*/) != nil {
            #expect(rows.contains { test.names($0) }, "\(test.file): \"\(test.name)\" names no row of the surface")
        }
    }
}
