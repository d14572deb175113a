#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Where a file is to appear, behind all links, and what is there now.
struct FilePlace {
    /// The path that is a link no more, whether anything is there or not.
    let path: String
    /// The file that is there; nil: nothing.
    let present: stat?

    /// Finds the place that a path leads to.
    ///
    /// A link that was replaced would leave what it leads to as it was, and a device or a pipe would be no more.
    ///
    /// - Throws: ``LocalFileError`` where there is something else than a file, or links lead in a circle.
    init(_ path: String) throws(LocalFileError) {
        func failure(_ number: Int32) -> LocalFileError {
            LocalFileError(path: path, operation: .create, errno: number)
        }
        var status = stat()
        if stat(path, &status) == 0 {
            switch status.st_mode & S_IFMT {
            case S_IFREG: present = status
            case S_IFDIR: throw failure(EISDIR)
            default: throw failure(EEXIST)
            }
        } else {
            present = nil
        }
        var place = path
        // As many as the system follows.
        for _ in 0...40 {
            guard let link = Self.link(place) else {
                self.path = place
                return
            }
            guard let target = String(validating: link, as: UTF8.self) else { throw failure(EILSEQ) }
            let folder = place.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(place[...$0]) } ?? ""
            place = target.utf8.first == UInt8(ascii: "/") ? target : folder + target
        }
        throw failure(ELOOP)
    }

    /// What a link says; nil where the path is none.
    private static func link(_ path: String) -> [UInt8]? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? buffer[..<count].map { UInt8(bitPattern: $0) } : nil
    }
}
