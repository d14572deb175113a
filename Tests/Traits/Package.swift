// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// The tests of what stands behind Refrain's traits, with the packages that they need: a package of its own, so that
// neither a build nor the tests of Refrain ask for them. `Scripts/test-traits` runs a copy of it, to which it adds the
// files that it shares with Refrain's own tests.

let traits = ["HTTPTypes", "OpenAPI", "Logging", "Metrics", "Tracing", "ServiceLifecycle", "AsyncHTTPClient", "Valkey"]

func product(_ name: String, _ package: String, _ trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

let all: [Target.Dependency] = [
    .product(name: "RefrainTesting", package: "refrain"), .product(name: "RefrainHTTP", package: "refrain"),
    .product(name: "RefrainCore", package: "refrain"),
    product("RefrainHTTPTypes", "refrain", "HTTPTypes"),
    product("HTTPTypes", "swift-http-types", "HTTPTypes"),
    product("RefrainOpenAPI", "refrain", "OpenAPI"),
    product("OpenAPIRuntime", "swift-openapi-runtime", "OpenAPI"),
    product("RefrainLogging", "refrain", "Logging"),
    product("Logging", "swift-log", "Logging"),
    product("InMemoryLogging", "swift-log", "Logging"),
    product("RefrainMetrics", "refrain", "Metrics"),
    product("Metrics", "swift-metrics", "Metrics"),
    product("MetricsTestKit", "swift-metrics", "Metrics"),
    product("RefrainTracing", "refrain", "Tracing"),
    product("Tracing", "swift-distributed-tracing", "Tracing"),
    product("InMemoryTracing", "swift-distributed-tracing", "Tracing"),
    product("RefrainServiceLifecycle", "refrain", "ServiceLifecycle"),
    product("ServiceLifecycle", "swift-service-lifecycle", "ServiceLifecycle"),
    product("ServiceLifecycleTestKit", "swift-service-lifecycle", "ServiceLifecycle"),
    product("Logging", "swift-log", "ServiceLifecycle"),
    product("RefrainAsyncHTTPClient", "refrain", "AsyncHTTPClient"),
    product("AsyncHTTPClient", "async-http-client", "AsyncHTTPClient"),
    product("NIOCore", "swift-nio", "AsyncHTTPClient"),
    product("NIOSSL", "swift-nio-ssl", "AsyncHTTPClient"),
    product("RefrainValkey", "refrain", "Valkey"),
    product("Valkey", "valkey-swift", "Valkey"),
    product("Logging", "swift-log", "Valkey"),
]

let package = Package(
    name: "refrain-traits",
    platforms: [.macOS(.v15)],
    traits: [
        "HTTPTypes",
        .trait(name: "OpenAPI", enabledTraits: ["HTTPTypes"]),
        "Logging",
        "Metrics",
        "Tracing",
        "ServiceLifecycle",
        "AsyncHTTPClient",
        "Valkey",
    ],
    dependencies: [
        .package(
            name: "refrain",
            path: "../..",
            traits: Set(traits.map { .trait(name: $0, condition: .when(traits: [$0])) })
        ),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-openapi-runtime", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.27.0"),
        .package(url: "https://github.com/valkey-io/valkey-swift", from: "1.0.0", traits: []),
    ],
    targets: [
        // An example: a service that has all of them.
        .target(name: "OrderService", dependencies: all),
        .testTarget(name: "OrderServiceTests", dependencies: ["OrderService"] + all),
        .testTarget(name: "TraitTests", dependencies: all),
        // The fault matrix of Refrain's own tests over another transport; the script adds its files.
        .testTarget(name: "FaultMatrixTests", dependencies: ["TLSFixture"] + all),
        .systemLibrary(
            name: "COpenSSL",
            path: "Support/COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .target(name: "CTLSRelay", dependencies: ["COpenSSL"], path: "Support/CTLSRelay"),
        .target(
            name: "TLSFixture",
            dependencies: ["CTLSRelay", .product(name: "RefrainCore", package: "refrain")],
            path: "Support/TLSFixture"
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("ExistentialAny"),
    ]
}
