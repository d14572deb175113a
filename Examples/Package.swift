// swift-tools-version: 6.2
import PackageDescription

// Each example is a program of its own, in one file of under 80 lines:
// `swift run --package-path Examples RateLimitedAPI`.
let package = Package(
    name: "refrain-examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "refrain", path: "..")],
    targets: [
        .executableTarget(
            name: "RateLimitedAPI",
            dependencies: [
                .product(name: "RefrainHTTP", package: "refrain"),
                .product(name: "RefrainTesting", package: "refrain"),
            ]
        ),
        .executableTarget(
            name: "LogOut",
            dependencies: [
                .product(name: "RefrainHTTP", package: "refrain"),
                .product(name: "RefrainTesting", package: "refrain"),
            ]
        ),
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
