// swift-tools-version: 6.2
import PackageDescription

/// A commit's name in hexadecimal digits, with a mark where files were changed; nothing else reaches the C compiler.
func stamp(_ commit: String) -> [CSetting] {
    let isName = (7...64).contains(commit.utf8.count) && commit.allSatisfy { $0.isHexDigit || "-dirty".contains($0) }
    return isName ? [.define("REFRAIN_COMMIT", to: "\"\(commit)\"")] : []
}

/// Where URLSession is the transport.
let apple: [Platform] = [.macOS, .iOS, .tvOS, .watchOS, .visionOS]

let package = Package(
    name: "refrain",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Refrain", targets: ["Refrain"]),
        .library(name: "RefrainCore", targets: ["RefrainCore"]),
        .library(name: "RefrainHTTP", targets: ["RefrainHTTP"]),
        .library(name: "RefrainSession", targets: ["RefrainSession"]),
        .library(name: "RefrainURLSession", targets: ["RefrainURLSession"]),
        .library(name: "RefrainTesting", targets: ["RefrainTesting"]),
        .executable(name: "refrain", targets: ["RefrainCLI"]),
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
        .target(name: "RefrainCurl", dependencies: ["RefrainHTTP", "CurlShim", "SanitizerShim"]),
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
        // For tests, those of users included.
        .target(name: "RefrainTesting", dependencies: ["RefrainCore", "RefrainHTTP"]),
        .executableTarget(name: "RefrainCLI", dependencies: ["Refrain", "RefrainTesting", "BuildStamp"]),
        // The commit that `refrain --version` says, where the build was told; see Scripts/release.
        .target(name: "BuildStamp", cSettings: Context.environment["REFRAIN_COMMIT"].map(stamp) ?? []),

        .testTarget(name: "RefrainCoreTests", dependencies: ["RefrainCore", "RefrainTesting"]),
        .testTarget(name: "RefrainHTTPTests", dependencies: ["RefrainHTTP", "RefrainTesting"]),
        .testTarget(
            name: "RefrainIntegrationTests",
            dependencies: ["RefrainCore", "RefrainHTTP", "RefrainCurl", "RefrainTesting", "TLSFixture"]
        ),
        .testTarget(
            name: "RefrainSessionTests",
            dependencies: ["RefrainCore", "RefrainSession", "RefrainCurl", "RefrainTesting"]
        ),
        .testTarget(name: "RefrainTests", dependencies: ["Refrain", "RefrainTesting"]),
        // Reads the sources, and the executable, which it depends on so that it is built.
        .testTarget(name: "ArchitectureTests", dependencies: ["RefrainCLI"]),
        .testTarget(
            name: "RefrainCurlTests",
            dependencies: ["RefrainCore", "RefrainHTTP", "RefrainCurl", "CurlShim", "RefrainTesting", "TLSFixture"]
        ),
        .testTarget(
            name: "RefrainURLSessionTests",
            dependencies: ["RefrainCore", "RefrainHTTP", "RefrainURLSession", "RefrainTesting"]
        ),
        .testTarget(name: "RefrainCLITests", dependencies: ["RefrainCLI", "Refrain", "RefrainTesting"]),
        .testTarget(name: "RefrainTestingTests", dependencies: ["RefrainCore", "RefrainTesting", "TLSFixture"]),

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
    ],
    swiftLanguageModes: [.v6]
)

// One place for the language settings of the whole house.
for target in package.targets where ![.system, .plugin].contains(target.type) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .treatAllWarnings(as: .error),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("ExistentialAny"),
        ]
}
