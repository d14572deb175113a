// SPDX-License-Identifier: Apache-2.0
#if Valkey
internal import RefrainCore
public import RefrainHTTP
public import Valkey

/// A limit that processes of any number of machines keep together in Valkey or Redis (rule R38).
///
/// ```swift
/// let client = ValkeyClient(
///     .hostname("cache.example"), logger: logger
/// )
/// let pacer = Pacer(
///     .perMinute(requests: 500), quota: ValkeyQuota(client)
/// )
/// ```
///
/// It is one script for each booking, by the server's clock, on one hash for each limit that expires ten seconds after
/// its last permit. After a flush, or where a replica takes over that has not heard of the last bookings, the permits
/// that were booked ahead, ``/RefrainHTTP/QuotaGrant/horizon`` or two bookings, are given out again. The client has to
/// run (`client.run()`, or in a service group); Redis has to be 5 or later.
public struct ValkeyQuota<Client: ValkeyClientProtocol>: QuotaStore {
    private let client: Client
    private let prefix: String
    /// The last slot of two seconds, by the server's clock, in which this process was counted, by key.
    private let counted = Locked<[String: String]>([:])

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - client: a client, a connection or a cluster's client, which stays the caller's.
    ///   - prefix: what the names of the hashes begin with. Defaults to `refrain:quota:`.
    public init(_ client: Client, prefix: String = "refrain:quota:") {
        (self.client, self.prefix) = (client, prefix)
    }

    /// Books permits; one script.
    ///
    /// - Throws: `ValkeyClientError` where the server is out of reach or refuses the script.
    public func book(_ key: String, rate: Double, wanted: Double, hold: Duration) async throws -> QuotaGrant {
        let arguments = [
            wanted, 1000 / rate, max(0, hold.inSeconds * 1000),
            QuotaGrant.horizon(wanted: wanted, rate: rate).inSeconds * 1000,
        ]
        let answer = try await client.eval(
            script: Self.script,
            keys: [ValkeyKey(prefix + key)],
            args: arguments.map { "\($0)" } + [counted.withLock { $0[key] } ?? ""]
        )
        let texts = try answer.decode(as: [String].self)
        let numbers = texts.prefix(3).compactMap { Double($0) }
        guard texts.count == 4, numbers.count == 3 else {
            throw ValkeyClientError(.unrecognisedError, message: "\(texts) are not three numbers and a slot")
        }
        counted.withLock { $0[key] = texts[3] }
        // Another program may have written into the hash, so that any number can come back.
        return QuotaGrant(
            permits: numbers[0],
            start: .delay(seconds: numbers[1] / 1000),
            members: Int(exactly: numbers[2]) ?? 1
        )
    }

    /// The hash has the time up to which permits are given out, and counts who asks in each slot of two seconds.
    private static var script: String {
        """
        local time = redis.call('TIME')
        local now = time[1] * 1000 + time[2] / 1000
        local slot = math.floor(now / 2000)
        local wanted, step, hold = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
        local horizon = tonumber(ARGV[4])
        local row = redis.call('HMGET', KEYS[1], 'due', 'slot', 'members', 'before', 'born')
        local last, members, before = tonumber(row[2]) or 0, tonumber(row[3]) or 0, tonumber(row[4]) or 0
        local start = tonumber(row[1]) or now
        -- The clock was set back: what is due is as far ahead as it was, and not also by that.
        if last > slot + 15 then start = start - (last - slot - 1) * 2000 end
        start = math.max(start, now, now + hold)
        -- Where the hash is gone, each process is counted again.
        local born = row[5] or table.concat(time, '.')
        local mark = slot .. ' ' .. born
        if last ~= slot then
            before = last == slot - 1 and members or 0
            members = 1
        elseif ARGV[5] ~= mark then
            members = members + 1
        end
        local granted, wait = 0, math.max(0, start - now - horizon)
        local due = start
        if wanted > 0 and start - now < horizon then
            granted, wait = wanted, start - now
            due = start + wanted * step
        end
        local function text(number) return string.format('%.17g', number) end
        redis.call(
            'HSET', KEYS[1], 'due', text(due), 'slot', slot, 'members', members, 'before', before, 'born', born)
        redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.min(due - now + 10000, 1e12)))
        return {text(granted), text(wait), text(math.max(members, before, 1)), mark}
        """
    }
}
#endif
