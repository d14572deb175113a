// SPDX-License-Identifier: Apache-2.0
internal import BuildStamp

/// The version of the package.
enum Version {
    /// By semantic versioning 2.0.
    static let current = "0.3.0"

    /// The day of this version, or of the last change to its manual.
    static let day = "2026-11-30"

    /// The commit that was built, or nil where the build was not told.
    ///
    /// `Scripts/release` says it. SwiftPM could be asked in the manifest, but remembers its answer: after a commit it
    /// was wrong, and no commit at all is better than another one's.
    static let commit: String? = {
        let text = String(cString: refrain_build_commit())
        return text.isEmpty ? nil : text
    }()

    /// As `refrain --version` says it: `0.3.0`, or `0.3.0 (1a2b3c4d5e6f)`.
    static let full = current + (commit.map { " (\($0))" } ?? "")
}
