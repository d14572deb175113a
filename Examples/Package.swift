// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Each example is a program of its own: `swift run --package-path Examples RateLimitedAPI`. README.md lists them. Those
// whose names begin with Migrating hold the snippets of the guides in Documentation/Migrating.
func example(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            "Checks",
            .product(name: "Refrain", package: "refrain"),
            .product(name: "RefrainCore", package: "refrain"),
            .product(name: "RefrainQueue", package: "refrain"),
            .product(name: "RefrainTesting", package: "refrain"),
        ]
    )
}

let package = Package(
    name: "refrain-examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "refrain", path: "..")],
    targets: [
        example("FetchAList"),
        example("RateLimitedAPI"),
        example("ModelAPI"),
        example("RefreshAToken"),
        example("UploadWithProgress"),
        example("ResumeADownload"),
        example("RetryAnything"),
        example("YourOwnMiddleware"),
        example("YourOwnStrategy"),
        example("TestOnVirtualTime"),
        example("LogOut"),
        example("Outbox"),
        example("Port"),
        example("MigratingFromAlamofire"),
        example("MigratingFromHTTPLoaders"),
        example("MigratingFromTaskRetrying"),
        example("MigratingFromURLSession"),
        .target(name: "Checks", path: "Checks"),
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
