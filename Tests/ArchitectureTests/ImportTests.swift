// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("Who may import whom", .computing)
struct ImportTests {
    /// The modules table of the design.
    ///
    /// A module stands only on those above it.
    static let allowed: [String: Set<String>] = [
        "SanitizerShim": [],
        "RefrainCore": ["SanitizerShim"],
        "RefrainHTTP": ["RefrainCore", "FoundationEssentials"],
        "CLibcurl": [],
        "CurlShim": ["CLibcurl"],
        "RefrainCurl": [
            "RefrainCore", "RefrainHTTP", "CurlShim", "CLibcurl",
            "FoundationEssentials",
        ],
        "RefrainURLSession": [
            "RefrainCore", "RefrainHTTP", "Dispatch", "Foundation", "FoundationNetworking",
        ],
        "RefrainSession": ["RefrainCore", "RefrainHTTP", "Dispatch", "FoundationEssentials"],
        "Refrain": ["RefrainCore", "RefrainHTTP", "RefrainCurl", "RefrainURLSession", "RefrainSession"],
        "RefrainAlamofire": ["Refrain", "Dispatch", "FoundationEssentials"],
        // Behind traits: each knows one package besides.
        "RefrainHTTPTypes": ["Refrain", "HTTPTypes", "FoundationEssentials"],
        "RefrainOpenAPI": ["RefrainHTTPTypes", "OpenAPIRuntime", "FoundationEssentials"],
        "RefrainLogging": ["RefrainSession", "Logging"],
        "RefrainMetrics": ["RefrainSession", "Metrics"],
        "RefrainTracing": ["RefrainSession", "Tracing"],
        "RefrainServiceLifecycle": ["RefrainCore", "RefrainHTTP", "RefrainSession", "ServiceLifecycle"],
        "RefrainAsyncHTTPClient": [
            "RefrainCore", "RefrainHTTP", "AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOPosix", "FoundationEssentials",
        ],
        "RefrainValkey": ["RefrainCore", "RefrainHTTP", "Valkey"],
        "RefrainTesting": ["RefrainCore", "RefrainHTTP", "FoundationEssentials"],
        "SimulationShim": [],
        "RefrainSimulation": [
            "RefrainCore", "RefrainHTTP", "RefrainTesting", "SimulationShim", "FoundationEssentials",
        ],
        "RefrainQueue": [
            "RefrainCore", "RefrainHTTP", "RefrainSession", "CSQLite", "CLibcrypto", "CLibpq", "Dispatch",
            "FoundationEssentials",
            // On Apple platforms, for digests.
            "CommonCrypto",
        ],
        "RefrainCLI": [
            "Refrain", "RefrainTesting", "RefrainSimulation", "RefrainQueue", "BuildStamp", "CLibcrypto",
            "Dispatch", "FoundationEssentials",
        ],
        "CLibcrypto": [],
        "CSQLite": [],
        "CLibpq": [],
        "BuildStamp": [],
    ]

    /// What comes with the compiler and the C library, on Linux; every module may use it.
    static let platform: Set = ["Swift", "_Concurrency", "Synchronization", "Glibc", "SwiftOverlayShims"]

    @Test("every folder in Sources has its row in the table of modules")
    func everyModuleIsKnown() throws {
        let unknown = try SourceTree.modules().filter { Self.allowed[$0] == nil }
        #expect(unknown == [], "a new module needs a row in `allowed`, and one in the design")
    }

    @Test("a module imports only what its row in the table allows")
    func importsFollowTheTable() throws {
        let tree = try SourceTree()
        #expect(!tree.files.isEmpty)
        let violations = tree.files.flatMap { file in
            let allowed = Self.allowed[file.module, default: []].union(Self.platform)
            return file.source.imports(onLinux: true)
                .filter { !allowed.contains($0.module) }
                .map { "Sources/\(file.path):\($0.line): \(file.module) may not import \($0.module)" }
        }
        #expect(violations == [])
    }

    @Test("RefrainCore imports no Foundation, on any platform")
    func coreHasNoFoundation() throws {
        let violations = try SourceTree().files.filter { $0.module == "RefrainCore" }.flatMap { file in
            file.source.imports(onLinux: false)
                .filter { $0.module.hasPrefix("Foundation") }
                .map { "Sources/\(file.path):\($0.line): RefrainCore imports \($0.module)" }
        }
        #expect(violations == [])
    }

    @Test("FoundationNetworking is imported nowhere but in the bridge to URLSession")
    func noFoundationNetworking() throws {
        let violations = try SourceTree().files.filter { $0.module != "RefrainURLSession" }.flatMap { file in
            file.source.imports(onLinux: false)
                .filter { $0.module == "FoundationNetworking" }
                .map { "Sources/\(file.path):\($0.line): imports FoundationNetworking" }
        }
        #expect(violations == [])
    }

    @Test(
        "an import is found in each of its spellings",
        arguments: [
            "import Foundation",
            "public import Foundation",
            "@_exported import Foundation",
            "@preconcurrency internal import Foundation",
            "import struct Foundation.Data",
            "#if canImport(Foundation)\nimport Foundation\n#endif",
            "#if os(Linux) && canImport(Foundation)\nimport Foundation\n#endif",
            "#if SOMETHING\nimport Foundation\n#endif",
            "#if canImport(Darwin)\n#else\nimport Foundation\n#endif",
        ]
    )
    func findsImports(text: String) {
        #expect(SwiftSource(text).imports(onLinux: true).map(\.module) == ["Foundation"])
    }

    @Test(
        "an import that Linux never compiles, or that is no code, is left alone",
        arguments: [
            "#if canImport(FoundationEssentials)\n#else\nimport Foundation\n#endif",
            "#if canImport(Darwin)\nimport Foundation\n#endif",
            "#if os(macOS) || os(iOS)\nimport Foundation\n#endif",
            "#if !os(Linux)\nimport Foundation\n#endif",
            "#if canImport(Glibc)\n#elseif canImport(Musl)\nimport Foundation\n#endif",
            "// import Foundation",
            "/* \n import Foundation */",
            "let text = \"\"\"\n    import Foundation\n    \"\"\"",
        ]
    )
    func leavesOthersAlone(text: String) {
        #expect(SwiftSource(text).imports(onLinux: true).map(\.module) == [])
    }
}
