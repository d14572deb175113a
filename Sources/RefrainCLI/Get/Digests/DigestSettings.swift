// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The digests that bodies are compared with.
struct DigestSettings: Sendable {
    /// The digest of the one response.
    private let digest: ContentDigest?
    /// The digests of several.
    private let list: ChecksumFile?
    /// Whether an option gives digests.
    var areGiven: Bool { digest != nil || list != nil }
    /// Whether bodies become files, so that a wrong one can be discarded.
    let checksFields: Bool

    init(_ arguments: Arguments, _ destination: Destination, numberOfURLs: Int) throws(UsageError) {
        checksFields = destination.hasFiles && !arguments.has(.include) && !arguments.has(.compressed)
        list = try arguments.last(.checksumFile).map { path throws(UsageError) in try ChecksumFile(path: path) }
        digest = try arguments.last(.sha256).map { text throws(UsageError) in
            guard let digest = ContentDigest(hex: text, source: "--sha256"), digest.algorithm == .sha256 else {
                throw .badValue(text, of: "--sha256", "is not 64 hexadecimal digits")
            }
            return digest
        }
        guard digest != nil || list != nil else { return }
        guard digest == nil || list == nil else { throw UsageError("--sha256 and --checksum-file exclude each other") }
        let option = digest != nil ? "--sha256" : "--checksum-file"
        for other in [OptionName.include, .head] where arguments.has(other) {
            throw UsageError("\(option) and --\(other.rawValue) exclude each other: a digest is that of the body alone")
        }
        guard digest == nil || numberOfURLs == 1 else {
            throw UsageError(
                "--sha256 is for one response, but there are \(numberOfURLs) URLs; use --checksum-file FILE"
            )
        }
        guard !destination.printsInOrder else {
            throw UsageError("\(option) needs a file for each URL: --output-dir DIR")
        }
    }

    /// The digest that the content of a request must have; nil: none was given.
    ///
    /// - Parameters:
    ///   - file: the path of its file, and its name in the output folder, where it has them.
    ///   - url: its URL, whose last part is its name otherwise.
    func expected(file: String?, name: String?, url: String) throws(UsageError) -> ContentDigest? {
        guard let list else { return digest }
        let last = file.map { String($0.split(separator: "/").last ?? "") }
        return try list.digest(for: [name, last, OutputNaming.lastComponent(of: url)].compactMap(\.self))
    }
}
