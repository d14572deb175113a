// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// A package of its own, so that nothing that Refrain is compared with reaches its users.
let package = Package(
    name: "refrain-benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        // Loaded before a client's own libraries, in runs of their own that are not timed.
        .library(name: "CountingMalloc", type: .dynamic, targets: ["CountingMalloc"]),
        // For the client of the package in the folder AsyncHTTPClient.
        .library(name: "LoadDriver", targets: ["LoadDriver"]),
    ],
    dependencies: [.package(name: "refrain", path: "..")],
    targets: [
        // The measurements of all clients, so that all are measured alike.
        .target(name: "CMeasure"),
        .target(name: "CountingMalloc"),
        .target(name: "LoadDriver", dependencies: ["CMeasure"]),

        // The clients: the same arguments, one line of JSON.
        .executableTarget(
            name: "CurlMulti",
            dependencies: ["CMeasure"],
            linkerSettings: [.linkedLibrary("curl")]
        ),
        .executableTarget(
            name: "LoaderClient",
            dependencies: ["LoadDriver", .product(name: "Refrain", package: "refrain")]
        ),
        .executableTarget(
            name: "SessionClient",
            dependencies: ["LoadDriver", .product(name: "Refrain", package: "refrain")]
        ),
        .executableTarget(
            name: "SessionDecodableClient",
            dependencies: ["LoadDriver", .product(name: "Refrain", package: "refrain")]
        ),
        .executableTarget(name: "URLSessionClient", dependencies: ["LoadDriver"]),

        // The engine without a network.
        .target(name: "EngineOperations"),
        .executableTarget(
            name: "RetryOverhead",
            dependencies: ["CMeasure", "EngineOperations", .product(name: "Refrain", package: "refrain")]
        ),
        .executableTarget(name: "Waiters", dependencies: ["CMeasure", .product(name: "Refrain", package: "refrain")]),

        // Runs them all, side by side, and prints the table.
        .executableTarget(name: "Bench"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("ExistentialAny"),
    ]
}
