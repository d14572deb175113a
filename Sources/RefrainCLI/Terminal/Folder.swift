#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Questions about paths, and the making of folders.
enum Folder {
    /// What stands under a path.
    enum Kind {
        case nothing
        case file
        case folder
        /// A device, a pipe or a socket.
        case other
    }

    /// What stands under a path, behind all links.
    static func kind(of path: String) -> Kind {
        var status = stat()
        guard stat(path, &status) == 0 else { return .nothing }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// The path with its links followed, so that a link keeps pointing where it did, also where nothing is there yet.
    ///
    /// - Throws: ``SystemError`` where links lead in a circle.
    static func resolved(_ path: String) throws(SystemError) -> String {
        var place = path
        // As many as the system follows.
        for _ in 0...40 {
            if let real = real(place) { return real }
            guard let target = link(place) else { return place }
            place = target.hasPrefix("/") ? target : above(place) + target
        }
        throw SystemError(what: "cannot write \(path)", code: ELOOP)
    }

    /// What two paths to one place have in common, whether something stands there or not.
    static func identity(of path: String) -> String {
        let place = (try? resolved(path)) ?? path
        if let real = real(place) { return real }
        let folder = above(place)
        return (real(folder.isEmpty ? "." : folder) ?? folder) + "/" + place.dropFirst(folder.count)
    }

    /// The path up to its last slash.
    private static func above(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    private static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? String(validating: buffer[..<count], as: UTF8.self) : nil
    }

    /// Makes a folder and those above it, where they are missing, and checks that files can be made in it.
    static func prepare(_ path: String) throws(SystemError) {
        func fail() -> SystemError { SystemError(what: "cannot write into \(path)", code: errno) }
        var place = path.startIndex
        while place < path.endIndex {
            let next = path[path.index(after: place)...].firstIndex(of: "/") ?? path.endIndex
            if mkdir(String(path[..<next]), 0o777) != 0, errno != EEXIST, next == path.endIndex { throw fail() }
            place = next
        }
        guard kind(of: path) == .folder else { throw SystemError(what: "cannot write into \(path)", code: ENOTDIR) }
        guard access(path, W_OK | X_OK) == 0 else { throw fail() }
    }
}
