// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// A client that `Scripts/bench` builds where the packages that it needs are at hand. A package of its own, so that the
// benchmarks themselves need none.
let package = Package(
    name: "refrain-benchmarks-async-http-client",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "refrain-benchmarks", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.24.0"),
    ],
    targets: [
        .executableTarget(
            name: "AsyncHTTPClientClient",
            dependencies: [
                .product(name: "LoadDriver", package: "refrain-benchmarks"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]
        )
    ],
    swiftLanguageModes: [.v6]
)
