// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where clients write what they fetch.
enum Scratch {
    /// The largest set of files, and some room.
    private static let neededBytes: UInt = 2_500_000_000

    /// A file system in memory, where there is room for the files; else `/tmp`.
    ///
    /// ext4 looks for a free inode past all those that were freed of late, and a file system on a disk writes back what
    /// an earlier client has left: both would be counted against whichever client comes next.
    static let folder: String = {
        var status = statvfs()
        guard statvfs("/dev/shm", &status) == 0, access("/dev/shm", W_OK | X_OK) == 0,
            UInt(status.f_bavail) * UInt(status.f_frsize) >= neededBytes
        else { return "/tmp" }
        return "/dev/shm"
    }()

    /// Writes and removes as much as a client will.
    ///
    /// The pages of a virtual machine may be new to its host, which takes those back that have been free for some
    /// seconds: the first client of a round took up to twice its time.
    static func warm() {
        var template = Array("\(folder)/refrain-bench.XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return }
        unlink(template)
        defer { close(descriptor) }
        let block = [UInt8](repeating: 1, count: 1 << 20)
        for _ in 0..<1200 {
            guard write(descriptor, block, block.count) == block.count else { return }
        }
    }
}
