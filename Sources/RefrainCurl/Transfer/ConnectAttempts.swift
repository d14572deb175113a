// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
internal import RefrainHTTP

/// The attempts to connect of a transfer: names that are looked up, and addresses that are tried or left out.
struct ConnectAttempts {
    private var opened = OpenedSockets()
    /// The addresses to which this transfer failed to connect.
    private var failed: [AddressKey] = []
    /// Whether libcurl is resolving a name.
    private(set) var isLookingUp = false
    /// Whether the name was looked up a second time, to find out why the first lookup has failed.
    private(set) var wasLookedUpAgain = false
    /// Whether the name servers have failed rather than answered that there is no such name.
    private(set) var isNameServerSilent = false
    /// Whether an address was left out because a connection to it failed before.
    private var hasLeftOutAddress = false
    /// Whether an address was left out because of the destination policy.
    private(set) var policyRefused = false
    /// Why the system opened no socket for an address; nil: it did.
    private(set) var openingError: Int32?
    /// Whether the addresses that were left out are tried now.
    private var triesAllAddresses = false

    // MARK: Names

    mutating func beginLookup() { isLookingUp = true }

    /// Records that no name is resolved any longer; returns whether one was.
    @discardableResult
    mutating func endLookup() -> Bool {
        defer { isLookingUp = false }
        return isLookingUp
    }

    mutating func noteSecondLookup() { wasLookedUpAgain = true }

    mutating func noteNameServers(areSilent: Bool) { isNameServerSilent = areSilent }

    // MARK: Addresses

    /// Whether no socket is open that was not yet a connection.
    var isEmpty: Bool { opened.isEmpty }

    /// When to call libcurl again so that it tries the next address.
    var nextCheck: MonotonicTime { opened.nextCheck }

    /// Returns whether to call libcurl now, so that it tries the next address.
    mutating func isDue(now: MonotonicTime) -> Bool { opened.isDue(now: now) }

    /// Whether to connect to an address now; one that failed recently is tried after all others (rule R33).
    mutating func mayConnect(to address: AddressKey, _ iteration: LoopIteration) -> Bool {
        if triesAllAddresses { return !failed.contains(address) }
        guard iteration.failedAddresses.contains(address, now: iteration.now) else { return true }
        hasLeftOutAddress = true
        return false
    }

    mutating func noteRefusalByPolicy() { policyRefused = true }

    /// Records that the system opened no socket, which says nothing about the address.
    mutating func noteUnopened(_ number: Int32) { openingError = number }

    /// Records a socket; `timeLeft` is the remaining time to connect.
    mutating func append(_ socket: Int32, to address: AddressKey, _ iteration: LoopIteration, timeLeft: Int64) {
        opened.append(socket, to: address, now: iteration.now, timeLeft: timeLeft)
        iteration.checkLimits(by: opened.nextCheck)
    }

    /// Whether to connect once more, to the addresses that were left out.
    mutating func mayTryOthers(_ iteration: LoopIteration) -> Bool {
        guard hasLeftOutAddress, !triesAllAddresses else { return false }
        noteFailed(timedOut: false, iteration)
        triesAllAddresses = true
        return true
    }

    /// Records the addresses that were tried, if the transfer failed to connect; returns whether any was tried.
    mutating func noteFailure(_ code: HTTPError.Code, _ iteration: LoopIteration) -> Bool {
        guard code == .cannotConnectToHost || code == .notConnectedToInternet || code == .timedOut else { return false }
        let hasTried = !opened.isEmpty || hasLeftOutAddress
        noteFailed(timedOut: code == .timedOut, iteration)
        return hasTried
    }

    /// Records the addresses that were tried so far as failed.
    private mutating func noteFailed(timedOut: Bool, _ iteration: LoopIteration) {
        for address in opened.failed(timedOut: timedOut, now: iteration.now) {
            failed.append(address)
            iteration.failedAddresses.note(address, now: iteration.now)
        }
        opened.removeAll()
    }

    /// Records and returns the connection that was made; nil if it is not one of the sockets that were opened.
    ///
    /// - Parameter localPort: the port of its socket; nil if it has none.
    mutating func takeConnection(_ key: UInt64, localPort: Int32?, _ iteration: LoopIteration) -> OpenConnection? {
        defer { opened.removeAll() }
        let entries = opened.entries
        // If a name has several addresses, several sockets may have been opened.
        guard let index = entries.lastIndex(where: { localPort == nil || refrain_local_port($0.socket) == localPort })
        else {
            iteration.connections.forget(key)
            return nil
        }
        let made = entries[index]
        iteration.failedAddresses.forget(made.address)
        // libcurl tries the addresses of a family one after the other, and both families at the same time (RFC 8305):
        // an address of the other family was only slower.
        for other in entries[..<index] where other.address.isIPv6 == made.address.isIPv6 {
            iteration.failedAddresses.note(other.address, now: iteration.now)
        }
        return iteration.connections.note(key, socket: made.socket)
    }
}

/// The sockets opened to send a request, in order.
struct OpenedSockets {
    /// A socket, its destination, and when it was opened.
    struct Entry {
        let socket: Int32
        let address: AddressKey
        let begin: MonotonicTime
    }

    private(set) var entries: [Entry] = []
    /// When to call libcurl again so that it tries the next address; ``MonotonicTime/never`` if that is not needed.
    private(set) var nextCheck = MonotonicTime.never
    private var delay = Self.firstDelay

    /// How long after libcurl's own limit it is called again.
    ///
    /// libcurl limits an address to half of the remaining time if there are more addresses. After that it (7.88) closes
    /// the socket, and opens the next one only when it is called again, without a timer of its own. Without this call
    /// the other addresses would not be tried.
    private static let firstDelay: Int64 = 5_000_000
    private static let longestDelay: Int64 = 500_000_000

    /// How long an address must have been silent to count as failed after a timeout; the first one always does.
    private static let fairTime: Int64 = 250_000_000

    var isEmpty: Bool { entries.isEmpty }

    /// Adds a socket; `timeLeft` is the remaining time to connect.
    mutating func append(_ socket: Int32, to address: AddressKey, now: MonotonicTime, timeLeft: Int64) {
        entries.append(Entry(socket: socket, address: address, begin: now))
        delay = Self.firstDelay
        nextCheck = timeLeft == .never ? .never : now.after(max(0, timeLeft / 2)).after(Self.firstDelay)
    }

    /// Returns whether to call libcurl now; the next call follows after five times the delay, up to a limit.
    mutating func isDue(now: MonotonicTime) -> Bool {
        guard nextCheck <= now else { return false }
        delay *= 5
        nextCheck = delay > Self.longestDelay ? .never : now.after(delay)
        return true
    }

    /// Returns the addresses that have failed if no connection was made.
    ///
    /// After a timeout these do not include addresses that were tried only shortly before it.
    func failed(timedOut: Bool, now: MonotonicTime) -> [AddressKey] {
        entries.enumerated()
            .filter { index, entry in index == 0 || !timedOut || now &- entry.begin >= Self.fairTime }
            .map(\.element.address)
    }

    /// Removes all sockets.
    mutating func removeAll() { self = OpenedSockets() }
}
