// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A path with its symbolic links resolved, and the file that exists there.
struct ResolvedFilePath {
    /// The resolved path; the file need not exist.
    let path: String
    /// The status of the existing file, or nil if there is none.
    let present: stat?

    /// A path at which there is nothing.
    init(newFile path: String) {
        self.path = path
        present = nil
    }

    /// Resolves the symbolic links of a path.
    ///
    /// Renaming a file over a link would replace the link and leave its target unchanged; renaming over a device or a
    /// pipe would remove it.
    ///
    /// - Throws: ``HTTPBody/FileError`` if the path is not a regular file, or if its links form a cycle.
    init(_ path: String) throws(HTTPBody.FileError) {
        func failure(_ number: Int32) -> HTTPBody.FileError {
            HTTPBody.FileError(path: path, operation: .create, errno: number)
        }
        var status = stat()
        let isPresent = lstat(path, &status) == 0
        // Usually there is nothing, or a file: then there are no links to follow.
        guard isPresent, status.st_mode & S_IFMT != S_IFREG else {
            self.path = path
            present = isPresent ? status : nil
            return
        }
        if stat(path, &status) == 0 {
            switch status.st_mode & S_IFMT {
            case S_IFREG: present = status
            case S_IFDIR: throw failure(EISDIR)
            default: throw failure(EEXIST)
            }
        } else {
            present = nil
        }
        var current = path
        // The system's own limit of links.
        for _ in 0...40 {
            guard let link = Self.link(current) else {
                self.path = current
                return
            }
            guard let target = String(validating: link, as: UTF8.self) else { throw failure(EILSEQ) }
            let folder = current.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(current[...$0]) } ?? ""
            current = target.utf8.first == UInt8(ascii: "/") ? target : folder + target
        }
        throw failure(ELOOP)
    }

    /// The target of a symbolic link, or nil if the path is not one.
    private static func link(_ path: String) -> [UInt8]? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? buffer[..<count].map { UInt8(bitPattern: $0) } : nil
    }
}
