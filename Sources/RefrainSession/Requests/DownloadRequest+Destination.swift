#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DownloadRequest {
    /// Chooses where a complete download is moved to, given the temporary file and the response.
    ///
    /// It is called once, for a response that has passed all validations. Without an option, a file that exists at the
    /// destination fails the request with `HTTPError.Code.cannotMoveFile`, and so does a folder that does not exist.
    public typealias Destination =
        @Sendable (_ temporaryURL: URL, _ response: HTTPResponse) -> (destinationURL: URL, options: Options)

    /// How a download is moved to its destination.
    public struct Options: OptionSet, Sendable {
        /// The bits of the options.
        public let rawValue: Int

        /// Makes options from their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Creates the folders of the destination that do not exist.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// Removes a file that exists at the destination.
        public static let removePreviousFile = Options(rawValue: 1 << 1)
    }

    /// A destination in one of the user's folders, under the last component of the URL's path.
    ///
    /// - Parameters:
    ///   - directory: the kind of folder. Defaults to the user's documents.
    ///   - domain: where the folder is looked up. Defaults to the user's home.
    ///   - options: how the file is moved. Defaults to none.
    public static func suggestedDownloadDestination(
        for directory: FileManager.SearchPathDirectory = .documentDirectory,
        in domain: FileManager.SearchPathDomainMask = .userDomainMask,
        options: Options = []
    ) -> Destination {
        { temporaryURL, response in
            let folder = FileManager.default.urls(for: directory, in: domain).first
            // One component, so that no name leads out of the folder.
            let name = response.url?.path.split(separator: "/").last.map(String.init) ?? ""
            let isUsable = !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(0)
            guard let folder else { return (temporaryURL, options) }
            return (folder.appending(path: isUsable ? name : "download"), options)
        }
    }
}

extension URL {
    /// Moves this file, as the options say; a file that is there already may stay where it is.
    func move(to target: URL, _ options: DownloadRequest.Options) throws {
        guard target != self else { return }
        let files = FileManager.default
        let path = target.path(percentEncoded: false)
        if options.contains(.removePreviousFile), files.fileExists(atPath: path) { try files.removeItem(at: target) }
        if options.contains(.createIntermediateDirectories) {
            try files.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        try files.moveItem(at: self, to: target)
    }
}
