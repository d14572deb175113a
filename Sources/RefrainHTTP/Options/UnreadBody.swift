/// How much of a response that is discarded is read, so that its connection can be used again (rule R28).
///
/// The transport reads it while the next attempt or hop is under way, and closes the connection where the body is
/// longer or slower.
package enum UnreadBody {
    /// How many bytes are read: 64 KiB.
    package static let maximumSize = 65_536
    /// For how long they are read: a second.
    package static let timeout = Duration.seconds(1)
}
