// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// One executable for each parser that sees the network; `Scripts/fuzz` builds them with libFuzzer.
let parsers = [
    "AuthenticationChallenge", "ContentLength", "ContentRange", "Cookie", "EntityTag", "HTTPDate", "MediaType",
    "RateLimit", "RetryAfter", "StructuredField",
]

let package = Package(
    name: "refrain-fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "refrain", path: "..")],
    targets: [
        .target(name: "LibFuzzer"),
        .target(
            name: "FuzzSupport",
            dependencies: ["LibFuzzer", .product(name: "RefrainCore", package: "refrain")],
            path: "Support"
        ),
    ]
        + parsers.map { parser in
            .executableTarget(
                name: "Fuzz\(parser)",
                dependencies: [
                    "FuzzSupport",
                    .product(name: "RefrainCore", package: "refrain"),
                    .product(name: "RefrainHTTP", package: "refrain"),
                ],
                path: "Sources/Fuzz\(parser)"
            )
        },
    swiftLanguageModes: [.v6]
)
