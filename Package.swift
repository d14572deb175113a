// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// A commit's name in hexadecimal digits, with a mark where files were changed; nothing else reaches the C compiler.
func stamp(_ commit: String) -> [CSetting] {
    let isName = (7...64).contains(commit.utf8.count) && commit.allSatisfy { $0.isHexDigit || "-dirty".contains($0) }
    return isName ? [.define("REFRAIN_COMMIT", to: "\"\(commit)\"")] : []
}

/// Where URLSession is the transport.
let apple: [Platform] = [.macOS, .iOS, .tvOS, .watchOS, .visionOS]

/// A product of another package, which is asked for only where the trait is on.
func product(_ name: String, _ package: String, _ trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

let package = Package(
    name: "refrain",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Refrain", targets: ["Refrain"]),
        .library(name: "RefrainCore", targets: ["RefrainCore"]),
        .library(name: "RefrainHTTP", targets: ["RefrainHTTP"]),
        .library(name: "RefrainSession", targets: ["RefrainSession"]),
        .library(name: "RefrainURLSession", targets: ["RefrainURLSession"]),
        .library(name: "RefrainAlamofire", targets: ["RefrainAlamofire"]),
        .library(name: "RefrainTesting", targets: ["RefrainTesting"]),
        .library(name: "RefrainSimulation", targets: ["RefrainSimulation"]),
        .library(name: "RefrainQueue", targets: ["RefrainQueue"]),
        // Each is empty unless its trait is on.
        .library(name: "RefrainHTTPTypes", targets: ["RefrainHTTPTypes"]),
        .library(name: "RefrainOpenAPI", targets: ["RefrainOpenAPI"]),
        .library(name: "RefrainLogging", targets: ["RefrainLogging"]),
        .library(name: "RefrainMetrics", targets: ["RefrainMetrics"]),
        .library(name: "RefrainTracing", targets: ["RefrainTracing"]),
        .library(name: "RefrainServiceLifecycle", targets: ["RefrainServiceLifecycle"]),
        .library(name: "RefrainAsyncHTTPClient", targets: ["RefrainAsyncHTTPClient"]),
        .library(name: "RefrainValkey", targets: ["RefrainValkey"]),
        .executable(name: "refrain", targets: ["RefrainCLI"]),
    ],
    // All are off by default, and then nothing is fetched: every use of a dependency below is conditional. The Makefile
    // asks for the one that needs no other package.
    traits: [
        .default(enabledTraits: Context.environment["REFRAIN_POSTGRESQL"] == nil ? [] : ["PostgreSQL"]),
        .trait(name: "HTTPTypes", description: "Conversions to and from swift-http-types: RefrainHTTPTypes"),
        .trait(
            name: "OpenAPI",
            description: "A transport and a middleware for swift-openapi-runtime: RefrainOpenAPI",
            enabledTraits: ["HTTPTypes"]
        ),
        .trait(name: "Logging", description: "Log lines by swift-log: RefrainLogging"),
        .trait(name: "Metrics", description: "Counters and timers by swift-metrics: RefrainMetrics"),
        .trait(name: "Tracing", description: "Spans by swift-distributed-tracing: RefrainTracing"),
        .trait(
            name: "ServiceLifecycle",
            description: "Sessions and chains as services of swift-service-lifecycle: RefrainServiceLifecycle"
        ),
        .trait(name: "PostgreSQL", description: "Queues in PostgreSQL, by libpq: RefrainQueue"),
        .trait(name: "AsyncHTTPClient", description: "AsyncHTTPClient as the transport: RefrainAsyncHTTPClient"),
        .trait(name: "Valkey", description: "Limits of a fleet in Valkey or Redis, by valkey-swift: RefrainValkey"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-openapi-runtime", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/valkey-io/valkey-swift", from: "1.0.0", traits: []),
    ],
    targets: [
        // Tells the thread sanitizer what the runtime does not; without that sanitizer it is one empty function.
        .target(name: "SanitizerShim"),
        // The engine: the standard library and libc only.
        .target(name: "RefrainCore", dependencies: ["SanitizerShim"]),
        // Values, chain, stages and deciders.
        .target(name: "RefrainHTTP", dependencies: ["RefrainCore"]),
        // The transport on Linux.
        .systemLibrary(
            name: "CLibcurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        // zlib, for gzip, comes with libcurl, which is built on it.
        .target(name: "CurlShim", dependencies: ["CLibcurl"], linkerSettings: [.linkedLibrary("z")]),
        .target(name: "RefrainCurl", dependencies: ["RefrainHTTP", "CurlShim"]),
        // The transport on Apple platforms; on Linux nothing else links it, since it needs all of Foundation.
        .target(name: "RefrainURLSession", dependencies: ["RefrainCore", "RefrainHTTP"]),
        // The session: requests, interceptors, validation, serialization.
        .target(name: "RefrainSession", dependencies: ["RefrainHTTP"]),
        // The umbrella.
        .target(
            name: "Refrain",
            dependencies: [
                "RefrainCore", "RefrainHTTP", "RefrainSession",
                .target(name: "RefrainURLSession", condition: .when(platforms: apple)),
                // Also on the Mac, for the command; the others have no libcurl.
                .target(name: "RefrainCurl", condition: .when(platforms: [.linux, .macOS])),
            ]
        ),
        // Names that only Alamofire and Moya have, without logic of their own.
        .target(name: "RefrainAlamofire", dependencies: ["Refrain"]),
        // Behind the traits of their names; their tests are a package of their own, in Tests/Traits.
        .target(
            name: "RefrainHTTPTypes",
            dependencies: ["Refrain", product("HTTPTypes", "swift-http-types", "HTTPTypes")]
        ),
        .target(
            name: "RefrainOpenAPI",
            dependencies: [
                "RefrainHTTPTypes", product("OpenAPIRuntime", "swift-openapi-runtime", "OpenAPI"),
                product("HTTPTypes", "swift-http-types", "OpenAPI"),
            ]
        ),
        .target(name: "RefrainLogging", dependencies: ["RefrainSession", product("Logging", "swift-log", "Logging")]),
        .target(
            name: "RefrainMetrics",
            dependencies: ["RefrainSession", product("Metrics", "swift-metrics", "Metrics")]
        ),
        .target(
            name: "RefrainTracing",
            dependencies: ["RefrainSession", product("Tracing", "swift-distributed-tracing", "Tracing")]
        ),
        .target(
            name: "RefrainServiceLifecycle",
            dependencies: [
                "RefrainSession", product("ServiceLifecycle", "swift-service-lifecycle", "ServiceLifecycle"),
            ]
        ),
        .target(
            name: "RefrainAsyncHTTPClient",
            dependencies: [
                "RefrainHTTP", product("AsyncHTTPClient", "async-http-client", "AsyncHTTPClient"),
                product("NIOCore", "swift-nio", "AsyncHTTPClient"),
                product("NIOHTTP1", "swift-nio", "AsyncHTTPClient"),
                product("NIOPosix", "swift-nio", "AsyncHTTPClient"),
            ]
        ),
        .target(
            name: "RefrainValkey",
            dependencies: ["RefrainCore", "RefrainHTTP", product("Valkey", "valkey-swift", "Valkey")]
        ),
        // For tests, those of users included.
        .target(name: "RefrainTesting", dependencies: ["RefrainCore", "RefrainHTTP"]),
        // The runtime's hook for the global executor, and a watched thread: what Swift cannot express.
        .target(name: "SimulationShim"),
        // Thousands of clients in virtual time.
        .target(
            name: "RefrainSimulation",
            dependencies: ["RefrainCore", "RefrainHTTP", "RefrainTesting", "SimulationShim"]
        ),
        // Queues, and the state of a list of requests.
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        // PostgreSQL's own library, behind its trait.
        .systemLibrary(
            name: "CLibpq",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        // Requests that outlive the process.
        .target(
            name: "RefrainQueue",
            dependencies: [
                "RefrainCore", "RefrainHTTP", "RefrainSession", "CSQLite",
                // Apple's platforms have digests of their own.
                .target(name: "CLibcrypto", condition: .when(platforms: [.linux])),
                .target(name: "CLibpq", condition: .when(traits: ["PostgreSQL"])),
            ]
        ),
        // Digests of downloads, and of the bodies of queued requests. libcurl is built on the same library.
        .systemLibrary(
            name: "CLibcrypto",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .executableTarget(
            name: "RefrainCLI",
            dependencies: [
                "Refrain", "RefrainTesting", "RefrainSimulation", "RefrainQueue", "BuildStamp", "CLibcrypto",
            ]
        ),
        // The commit that `refrain --version` says, where the build was told; see Scripts/release.
        .target(name: "BuildStamp", cSettings: Context.environment["REFRAIN_COMMIT"].map(stamp) ?? []),

        .testTarget(name: "RefrainCoreTests", dependencies: ["RefrainCore", "RefrainTesting", "TestSupport"]),
        .testTarget(name: "RefrainHTTPTests", dependencies: ["RefrainHTTP", "RefrainTesting", "TestSupport"]),
        .testTarget(
            name: "RefrainIntegrationTests",
            dependencies: ["RefrainCore", "RefrainHTTP", "RefrainCurl", "RefrainTesting", "TestSupport", "TLSFixture"]
        ),
        .testTarget(
            name: "RefrainSessionTests",
            dependencies: ["RefrainCore", "RefrainSession", "RefrainCurl", "RefrainTesting", "TestSupport"]
        ),
        .testTarget(
            name: "RefrainSimulationTests",
            dependencies: [
                "RefrainCore", "RefrainCurl", "RefrainHTTP", "RefrainSession", "RefrainSimulation", "RefrainTesting",
                "TestSupport",
            ]
        ),
        .testTarget(name: "RefrainTests", dependencies: ["Refrain", "RefrainTesting"]),
        .testTarget(
            name: "RefrainAlamofireTests",
            dependencies: ["RefrainAlamofire", "RefrainTesting", "TestSupport"]
        ),
        // Reads the sources, and the executable, which it depends on so that it is built.
        .testTarget(name: "ArchitectureTests", dependencies: ["RefrainCLI", "TestSupport"]),
        .testTarget(
            name: "RefrainCurlTests",
            dependencies: [
                "RefrainCore", "RefrainHTTP", "RefrainCurl", "CurlShim", "RefrainTesting", "ScriptedResolver",
                "TestSupport", "TLSFixture",
            ]
        ),
        .testTarget(
            name: "RefrainURLSessionTests",
            dependencies: ["RefrainCore", "RefrainHTTP", "RefrainURLSession", "RefrainTesting", "TestSupport"]
        ),
        .testTarget(
            name: "RefrainCLITests",
            dependencies: [
                "RefrainCLI", "Refrain", "RefrainQueue", "RefrainTesting", "SyncCounter", "TestSupport", "TLSFixture",
            ]
        ),
        .testTarget(
            name: "RefrainQueueTests",
            dependencies: [
                "RefrainQueue", "RefrainCore", "RefrainHTTP", "RefrainSession", "RefrainTesting", "SyncCounter",
                "TestSupport", "QueueLoad",
                // Several of it share a list.
                .target(name: "RefrainCLI", condition: .when(traits: ["PostgreSQL"])),
            ]
        ),
        .testTarget(name: "RefrainTestingTests", dependencies: ["RefrainCore", "RefrainTesting", "TLSFixture"]),

        // Helpers that the tests of several targets use.
        .target(
            name: "TestSupport",
            dependencies: ["RefrainCore", "RefrainHTTP", "RefrainTesting"],
            path: "Tests/Support/TestSupport"
        ),
        // Real TLS on loopback for tests: a relay with certificates that are made when it starts.
        .systemLibrary(
            name: "COpenSSL",
            path: "Tests/Support/TLSFixture/COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .target(name: "CTLSRelay", dependencies: ["COpenSSL"], path: "Tests/Support/TLSFixture/CTLSRelay"),
        .target(
            name: "TLSFixture",
            dependencies: ["CTLSRelay", "RefrainCore"],
            path: "Tests/Support/TLSFixture/TLSFixture"
        ),
        // Many calls at a high rate of faults, for Scripts/soak.
        .executableTarget(name: "Soak", dependencies: ["Refrain", "RefrainTesting"], path: "Tests/Support/Soak"),
        // Workers that end at a given point, for the tests of queues, and the queue's benchmark.
        .executableTarget(
            name: "QueueLoad",
            dependencies: ["RefrainQueue", "Refrain", "RefrainCore", "RefrainCurl", "RefrainHTTP"],
            path: "Tests/Support/QueueLoad"
        ),
        // Names whose answers change, for tests, without a name server.
        .target(name: "ScriptedResolver", path: "Tests/Support/ScriptedResolver"),
        // Counts how often a file is brought to the disk.
        .target(name: "SyncCounter", path: "Tests/Support/SyncCounter"),
    ],
    swiftLanguageModes: [.v6]
)

// Only where CI asks for it: Xcode, and SwiftPM from 6.4 on, build dependencies with `-suppress-warnings`, and the
// compiler refuses both at once.
let warnings: [SwiftSetting] =
    Context.environment["REFRAIN_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

// One place for the language settings of the whole house.
for target in package.targets where ![.system, .plugin].contains(target.type) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + warnings + [
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("ExistentialAny"),
        ]
}
