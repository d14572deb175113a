// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nothing that Refrain is compared with reaches its users.
let package = Package(
    name: "refrain-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "refrain", path: "..")],
    targets: [
        .executableTarget(name: "RetryOverhead", dependencies: [.product(name: "RefrainCore", package: "refrain")])
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
