// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The names of a partial file and its record, in the folder of the file.
///
/// The process that writes the partial file holds a lock on it. Only with this lock is it emptied, removed or moved.
struct PartialNames {
    /// The path as it was given, for errors.
    private let path: String
    /// The target, behind all links.
    let target: String
    /// The partial file.
    let part: String
    /// The record of it.
    let record: String
    /// The positions of its segments, where it has some.
    let positions: String

    init(_ path: String) {
        self.path = path
        target = (try? Directory.withoutLinks(path)) ?? path
        let folder = Directory.above(target)
        let name = target.dropFirst(folder.count)
        // The hidden names are longer than the target's, which may be as long as the file system allows.
        let stem = name.utf8.count <= 200 ? String(name) : OutputNaming.shortened(String(name))
        part = "\(folder).\(stem).part"
        record = part + ".json"
        positions = part + ".segments"
    }

    /// Whether a name is that of a partial file or its record: `.NAME.part`, `.NAME.part.json`.
    static func isPartial(_ name: some StringProtocol) -> Bool {
        let name = OutputNaming.folded(String(name))
        return name.hasPrefix(".") && (name.hasSuffix(".part") || name.contains(".part."))
    }

    /// How many bytes of the content are stored, also while a process writes them; nil if there is no partial file that
    /// can be continued.
    var size: Int64? {
        guard let size = Directory.fileSize(part), let record = PartialRecord.read(self.record) else { return nil }
        guard record.segments != nil else { return size }
        guard let bounds = record.bounds, let table = SegmentTable(reading: positions, bounds: bounds, isSameBoot: true)
        else { return nil }
        defer { table.end() }
        return table.size
    }

    /// Opens the partial file of an earlier process, and locks it.
    ///
    /// - Returns: its descriptor; nil if there is none; then its record is removed.
    /// - Throws: `HTTPBody.FileError` where another process writes it.
    func take() throws(HTTPBody.FileError) -> Int32? {
        let descriptor = open(part, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        if descriptor >= 0 { return try locked(descriptor) }
        // Where there was none, another process may have made one by now.
        let isThere = errno != ENOENT
        for name in [record, positions] { unlink(name) }
        if isThere { unlink(part) }
        return nil
    }

    /// Opens the partial file, which is made where there is none, and locks it.
    ///
    /// - Throws: `HTTPBody.FileError` where it cannot be made, or another process writes it.
    func make() throws(HTTPBody.FileError) -> Int32 {
        let descriptor = open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw HTTPBody.FileError(path: path, operation: .create, errno: errno) }
        return try locked(descriptor)
    }

    private func locked(_ descriptor: Int32) throws(HTTPBody.FileError) -> Int32 {
        // Before it was locked, another process may have moved or removed it.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, isPart(descriptor) else {
            close(descriptor)
            throw HTTPBody.FileError(path: path, operation: .write, errno: EWOULDBLOCK)
        }
        return descriptor
    }

    /// Whether a descriptor refers to the file with the name of the partial file.
    private func isPart(_ descriptor: Int32) -> Bool {
        var (opened, named) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(part, &named) == 0 && opened.st_dev == named.st_dev
            && opened.st_ino == named.st_ino
    }

    /// Gives the partial file, which is complete and locked by this descriptor, the name of the target, or one that
    /// replaces no file.
    func moveToTarget(_ descriptor: Int32, _ freeName: FreeName?) throws {
        guard isPart(descriptor) else { throw failure(ENOENT) }
        if let freeName {
            try freeName.give { try Download.FileSink.move(part, toNew: $0) }
        } else {
            guard rename(part, target) == 0 else { throw failure(errno) }
        }
        for name in [record, positions] { unlink(name) }
    }

    private func failure(_ code: Int32) -> HTTPBody.FileError {
        HTTPBody.FileError(path: path, operation: .move, errno: code)
    }

    /// Removes the partial file and its record; the record first.
    func remove() {
        for name in [record, part, positions] { unlink(name) }
    }

    /// Removes the partial file and its record, unless another process writes it.
    func removeUnused() {
        guard let descriptor = try? take() else { return }
        remove()
        close(descriptor)
    }

    /// Gives a new file the owner and the permissions of the one that it replaces, or those of an ordinary new file.
    func adoptMode(_ descriptor: Int32) {
        var status = stat()
        if stat(target, &status) == 0 {
            if fchown(descriptor, status.st_uid, status.st_gid) != 0 {
                _ = fchown(descriptor, uid_t.max, status.st_gid)
            }
            fchmod(descriptor, status.st_mode & 0o777)
        } else {
            fchmod(descriptor, 0o666 & ~Self.mask)
        }
    }

    /// The permissions that new files of this process lack; they can only be read by setting them.
    private static let mask: mode_t = {
        let mask = umask(0)
        umask(mask)
        return mask
    }()
}
