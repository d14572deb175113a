/// Where the bytes of a download go.
public protocol DownloadSink: Sendable {
    /// Takes the next bytes.
    ///
    /// An error ends the try. Nobody knows then how many of the bytes were taken, so a further try begins with
    /// ``startOver()``.
    func write(_ bytes: [UInt8]) async throws

    /// Forgets all bytes so far: the download starts over.
    ///
    /// A sink that has passed bytes on and cannot take them back throws ``CannotStartOver``.
    func startOver() async throws

    /// Whether ``startOver()`` would succeed now; true unless the sink says otherwise.
    var canStartOver: Bool { get }
}

extension DownloadSink {
    /// Most sinks can.
    public var canStartOver: Bool { true }
}

/// A sink has passed bytes on, and the download cannot go on from where it was.
public struct CannotStartOver: Error, Hashable, Sendable, CustomStringConvertible {
    /// Makes the error.
    public init() {}
    /// What happened.
    public var description: String {
        "the transfer cannot go on where it stopped, and what was delivered already cannot be taken back"
    }
}
