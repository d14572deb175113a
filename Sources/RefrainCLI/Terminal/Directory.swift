// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Queries about paths, and the creation of folders.
enum Directory {
    /// The kind of a path.
    enum Kind {
        case nothing
        case file
        case folder
        /// A device, a pipe or a socket.
        case other
    }

    /// The kind of a path, after following all links.
    static func kind(of path: String) -> Kind {
        var status = stat()
        guard stat(path, &status) == 0 else { return .nothing }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// Whether a path names anything, be it a link that leads nowhere.
    static func hasEntry(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// The path with its links followed, also if nothing exists there yet.
    ///
    /// - Throws: ``SystemError`` if the links form a cycle.
    static func resolved(_ path: String) throws(SystemError) -> String {
        let location = try withoutLinks(path)
        return real(location) ?? location
    }

    /// The final target of a link, or the path itself if it is none; links to folders are kept.
    ///
    /// - Throws: ``SystemError`` if the links form a cycle.
    static func withoutLinks(_ path: String) throws(SystemError) -> String {
        var location = path
        // The limit of the system.
        for _ in 0...40 {
            guard let target = link(location) else { return location }
            location = target.hasPrefix("/") ? target : above(location) + target
        }
        throw SystemError(what: "cannot write \(path)", code: ELOOP)
    }

    /// A text that is the same for all paths to one file, whether it exists or not.
    static func identity(of path: String) -> String {
        var location = ((try? resolved(path)) ?? path)[...]
        if let real = real(String(location)) { return real }
        while location.hasSuffix("/") { location.removeLast() }
        let folder = above(String(location))
        let outer = folder.isEmpty ? real(".") ?? "." : identity(of: folder)
        switch location.dropFirst(folder.count) {
        case ".": return outer
        case "..": return outer.lastIndex(of: "/").map { String(outer[..<$0]) } ?? outer
        case let name: return Self.path(outer, name)
        }
    }

    /// The path of a name in a folder.
    static func path(_ folder: String, _ name: some StringProtocol) -> String {
        folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// Why a file of this path cannot be made, although one without a name can be made in its folder; nil where it can.
    static func obstacle(toReplacing path: String) -> SystemError? {
        var (file, folder) = (stat(), stat())
        let outer = above(path)
        guard stat(path, &file) == 0, stat(outer.isEmpty ? "." : outer, &folder) == 0 else {
            return errno == ENAMETOOLONG ? SystemError(what: "cannot create \(path)", code: ENAMETOOLONG) : nil
        }
        func fail(_ code: Int32) -> SystemError { SystemError(what: "cannot replace \(path)", code: code) }
        let me = geteuid()
        if folder.st_mode & S_ISVTX != 0, me != 0, me != file.st_uid, me != folder.st_uid { return fail(EPERM) }
        return nil
    }

    /// Why no file can be made in a folder; nil where one can.
    static func obstacle(toWritingInto folder: String) -> SystemError? {
        let folder = folder.isEmpty ? "." : folder
        return access(folder, W_OK | X_OK) == 0 ? nil : SystemError(what: "cannot write into \(folder)", code: errno)
    }

    /// Whether a file is a mount point, as in containers, so that another file cannot replace it.
    static func isMountPoint(_ path: String) -> Bool {
        #if os(Linux)
        guard let location = real(path), let list = try? Input(path: "/proc/self/mountinfo").rest() else {
            return false
        }
        // The fifth field of each line, in which white space and backslashes are written in octal digits (proc(5)).
        var escaped: [UInt8] = []
        for byte in location.utf8 {
            guard [0x20, 0x09, 0x0A, 0x5C].contains(byte) else {
                escaped.append(byte)
                continue
            }
            escaped += "\\\(String(0o1000 + Int(byte), radix: 8).dropFirst())".utf8
        }
        return list.split(separator: 0x0A).contains { line in
            let fields = line.split(separator: 0x20, maxSplits: 5)
            return fields.count > 4 && fields[4].elementsEqual(escaped)
        }
        #else
        return false
        #endif
    }

    /// The path up to its last slash.
    static func above(_ path: String) -> String {
        // Reads the memory, because string and substring operations take several times as long.
        var path = path
        return path.withUTF8 { bytes in
            bytes.lastIndex(of: UInt8(ascii: "/")).map { String(decoding: bytes[...$0], as: UTF8.self) } ?? ""
        }
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// The target of a link; nil if the path is none.
    static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? String(validating: buffer[..<count], as: UTF8.self) : nil
    }

    /// Creates a folder and the missing ones above it, and verifies that it is writable.
    ///
    /// - Returns: the created folders, the outermost first.
    static func prepare(_ path: String) throws(SystemError) -> [String] {
        var made: [String] = []
        var index = path.startIndex
        var failure: Int32 = 0
        while index < path.endIndex {
            let next = path[path.index(after: index)...].firstIndex(of: "/") ?? path.endIndex
            let folder = String(path[..<next])
            failure = mkdir(folder, 0o777) == 0 ? 0 : errno
            if failure == 0 { made.append(folder) }
            index = next
        }
        if failure == 0 || failure == EEXIST {
            failure = kind(of: path) == .folder ? (access(path, W_OK | X_OK) == 0 ? 0 : errno) : ENOTDIR
        }
        guard failure == 0 else {
            remove(made)
            throw SystemError(what: "cannot write into \(path)", code: failure)
        }
        return made
    }

    /// Creates a folder below another one, with the missing ones between them, and follows no symbolic link below that.
    static func prepare(_ folder: String, below root: String) throws(SystemError) {
        var descriptor = open(root.isEmpty ? "." : root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(what: "cannot write into \(root)", code: errno) }
        defer { close(descriptor) }
        for component in folder.dropFirst(root.count).split(separator: "/") {
            let name = String(component)
            let made = mkdirat(descriptor, name, 0o777) == 0 ? 0 : errno
            let next = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else {
                let code = made == 0 || made == EEXIST ? errno : made
                var status = stat()
                let isLink =
                    fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
                let reason = isLink ? ", since symbolic links below the output folder are not followed" : ""
                throw SystemError(what: "cannot write into \(folder)\(reason)", code: code)
            }
            close(descriptor)
            descriptor = next
        }
        guard faccessat(descriptor, ".", W_OK | X_OK, 0) == 0 else {
            throw SystemError(what: "cannot write into \(folder)", code: errno)
        }
    }

    /// Creates the missing folders above a file.
    static func prepareAbove(_ path: String) throws(SystemError) {
        let folder = above(path)
        guard !folder.isEmpty, access(folder, W_OK | X_OK) != 0 else { return }
        _ = try prepare(String(folder.dropLast()))
    }

    /// The name of the file with the state of a run in its output folder.
    static let stateName = ".refrain.sqlite"

    /// Whether a folder contains nothing but the state of a run.
    static func isEmpty(_ path: String) -> Bool {
        guard let stream = opendir(path) else { return false }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name == "." || name == ".." || name.hasPrefix(Directory.stateName) else { return false }
        }
        return true
    }

    /// The modification time of a file in seconds since 1970; nil if it does not exist.
    static func modificationTime(_ path: String) -> Int64? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
        return Int64(status.st_mtimespec.tv_sec)
        #else
        return Int64(status.st_mtim.tv_sec)
        #endif
    }

    /// Sets the modification time of a file in seconds since 1970.
    static func setModificationDate(_ path: String, _ seconds: Int64) {
        var times = [timespec](repeating: timespec(tv_sec: Int(seconds), tv_nsec: 0), count: 2)
        utimensat(AT_FDCWD, path, &times, 0)
    }

    /// Whether a text is an IPv4 or IPv6 address; the latter may have a zone.
    static func isAddress(_ text: String) -> Bool {
        var buffer = in6_addr()
        let bare = text.contains(":") ? String(text.prefix { $0 != "%" }) : text
        return inet_pton(bare.contains(":") ? AF_INET6 : AF_INET, bare, &buffer) == 1
    }

    /// Gives a file another name, replacing the file that has it.
    static func rename(_ path: String, _ target: String) throws(SystemError) {
        guard systemRename(path, target) == 0 else { throw SystemError(what: "cannot write \(target)", code: errno) }
    }

    /// Removes a file if it exists.
    static func removeFile(_ path: String) { unlink(path) }

    /// Restricts reading and writing of a file to its owner.
    static func makePrivate(_ path: String) { chmod(path, 0o600) }

    /// The size of a file; nil if it does not exist.
    static func fileSize(_ path: String) -> Int64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// Removes created folders that are empty.
    static func remove(_ made: [String]) {
        for folder in made.reversed() { rmdir(folder) }
    }
}
