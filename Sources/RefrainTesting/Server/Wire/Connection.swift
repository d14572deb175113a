// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// One connection: reads requests, logs them, and performs the steps of their scripts.
///
/// It runs on one thread. The listener owns the descriptor and closes it when ``run(_:)`` returns.
final class Connection {
    enum Ending {
        case close
        case reset
    }

    private let channel: ConnectionWriter
    private let number: Int
    private let server: ServerState
    private let reader: RequestReader
    private var requests = 0

    init(descriptor: Int32, number: Int, server: ServerState) {
        channel = ConnectionWriter(descriptor: descriptor)
        self.number = number
        self.server = server
        reader = RequestReader(descriptor)
    }

    func run(_ mode: FaultServer.Mode) -> Ending {
        switch mode {
        case .hangOnAccept:
            channel.waitForPeerToLeave()
            return .close
        case .garbageOnAccept:
            _ = channel.send(Garbage.bytes)
            return closeInOrder(linger: 200)
        default: break
        }
        while true {
            switch reader.readHead() {
            case .end: return .close
            case .malformed(let problem): return refuse(problem)
            case .head(let head):
                requests += 1
                var exchange = Exchange(head: head)
                if let ending = answer(&exchange) { return ending }
            }
        }
    }

    /// The state of the current request.
    private struct Exchange {
        let head: RequestHead
        /// The number of its log entry; nil if it is not logged.
        var logNumber: Int?
        var isBodyRead = false
        var hasSent = false
        var keepsAlive: Bool
        /// Whether a body is framed but was not read.
        var owesBody: Bool { !isBodyRead && head.framing != .none }

        init(head: RequestHead) {
            self.head = head
            keepsAlive = head.keepsAlive
        }
    }

    private func answer(_ exchange: inout Exchange) -> Ending? {
        let head = exchange.head
        let path = String(head.target.prefix { $0 != "?" })
        let route = Route.find(path)
        let (occurrence, script) = server.arrive(target: head.target, path: path)
        if script != nil || route?.entry.kind != .control { exchange.logNumber = log(head) }
        if script?.readsBody ?? route?.readsBody ?? true, let ending = readBody(&exchange) { return ending }
        let queryStart = head.target.utf8.firstIndex(of: UInt8(ascii: "?"))
        let request = FaultServer.Request(
            method: head.method,
            target: head.target,
            path: path,
            query: queryStart.map { Query.items(of: head.target[head.target.utf8.index(after: $0)...]) } ?? [],
            headers: head.headers,
            body: reader.body,
            bodyLength: reader.bodyLength,
            connection: number,
            numberOnConnection: requests,
            occurrence: occurrence
        )
        for step in steps(for: request, script, route) {
            if let ending = perform(step, &exchange) { return ending }
        }
        note(exchange, .done)
        if exchange.keepsAlive, !exchange.owesBody { return nil }
        return closeInOrder(linger: exchange.owesBody ? 2000 : 0)
    }

    private func steps(for request: FaultServer.Request, _ script: Script?, _ route: Route?) -> [FaultServer.Step] {
        if let script { return script.steps(request) }
        guard let route else {
            return [.respond(.init(404, body: "no such path: \(request.path); / lists them\n"))]
        }
        do {
            if let times = try Call(request, server).optionalInteger("times"), request.occurrence > times,
                !route.countsForItself
            {
                return [.respond(.ok)]
            }
            return try route.script(Call(request, server))
        } catch let problem as BadOption {
            return [.respond(.init(400, body: "bad value for \(problem.name): \(problem.value)\n"))]
        } catch {
            return [.respond(.init(500, body: "\(error)\n"))]
        }
    }

    // MARK: Steps

    private func perform(_ step: FaultServer.Step, _ exchange: inout Exchange) -> Ending? {
        var isSent = true
        switch step {
        case .respond(let response):
            isSent = channel.send(bytes(of: response, &exchange, withBody: true))
            exchange.hasSent = true
        case .head(let response):
            isSent = channel.send(bytes(of: response, &exchange, withBody: false))
            exchange.hasSent = true
        case .send(let bytes):
            isSent = channel.send(bytes)
            exchange.hasSent = true
        case .generate(let generator):
            if generator.isBody, exchange.head.method == "HEAD" { break }
            isSent = generate(generator)
            exchange.hasSent = true
        case .sleep(let duration):
            isSent = channel.wait(for: duration)
        case .readBody:
            return readBody(&exchange)
        case .close:
            note(exchange, .closed)
            return closeInOrder(linger: exchange.owesBody ? 2000 : 0)
        case .reset:
            // A reset discards the data that the kernel has not delivered yet, on both sides.
            if exchange.hasSent { channel.wait(for: .milliseconds(20)) }
            note(exchange, .reset)
            return .reset
        case .hang:
            _ = reader.drain(milliseconds: -1)
            note(exchange, .clientLeft)
            return .close
        case .stall:
            channel.waitForPeerToLeave()
            note(exchange, .clientLeft)
            return .close
        }
        guard isSent else {
            note(exchange, .clientLeft)
            return .close
        }
        return nil
    }

    private func generate(_ generator: FaultServer.Generator) -> Bool {
        var offset = 0
        while offset < generator.count {
            let count = min(max(1, generator.slice), generator.count - offset)
            if offset > 0, generator.pause > .zero, !channel.wait(for: generator.pause) { return false }
            let end = offset + count
            while offset < end {
                let piece = min(Self.largestPiece, end - offset)
                guard send(generator.bytes(offset, piece), generator.framing) else { return false }
                offset += piece
            }
        }
        guard case .chunked(sendsLastChunk: true) = generator.framing else { return true }
        return channel.send(Array("0\r\n\r\n".utf8))
    }

    /// The maximum number of bytes generated at a time; a slice may exceed the memory.
    private static let largestPiece = 1 << 20

    private func send(_ bytes: [UInt8], _ framing: FaultServer.Generator.Framing) -> Bool {
        switch framing {
        case .plain:
            return channel.send(bytes)
        case .chunked:
            // An empty chunk would end the body.
            guard !bytes.isEmpty else { return true }
            return channel.send(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10])
        }
    }

    private func bytes(of response: FaultServer.Response, _ exchange: inout Exchange, withBody: Bool) -> [UInt8] {
        let isBodiless = (100..<200).contains(response.status) || response.status == 204 || response.status == 304
        var text = "HTTP/1.1 \(response.status) \(ReasonPhrase.of(response.status))\r\n"
        for (name, value) in response.headers { text += "\(name): \(value)\r\n" }
        if response.addsDate, !response.has("Date") { text += "Date: \(HTTPDateText.imf(ServerTime.wall()))\r\n" }
        if withBody, !isBodiless, !response.has("Content-Length"), !response.has("Transfer-Encoding") {
            text += "Content-Length: \(response.body.count)\r\n"
        }
        if response.status >= 200 {
            if let connection = response.value("Connection") {
                exchange.keepsAlive = exchange.keepsAlive && !connection.equalsIgnoringCase("close")
            } else if !exchange.keepsAlive || exchange.owesBody {
                exchange.keepsAlive = false
                text += "Connection: close\r\n"
            } else if !exchange.head.isHTTP11 {
                text += "Connection: keep-alive\r\n"
            }
        }
        text += "\r\n"
        var bytes = Array(text.utf8)
        if withBody, !isBodiless, exchange.head.method != "HEAD" { bytes += response.body }
        return bytes
    }

    // MARK: The wire

    private func readBody(_ exchange: inout Exchange) -> Ending? {
        if exchange.isBodyRead { return nil }
        exchange.isBodyRead = true
        guard exchange.head.framing != .none else { return nil }
        if exchange.head.expectsContinue, !exchange.hasSent, !channel.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        {
            note(exchange, .clientLeft)
            return .close
        }
        let end = reader.readBody(exchange.head.framing)
        if let number = exchange.logNumber {
            let digest = end == .complete ? reader.bodyDigest() : nil
            let length = reader.bodyLength
            server.log.update(number) { entry in
                entry.bodyLength = length
                entry.bodySHA256 = digest
                entry.complete = end == .complete
            }
        }
        switch end {
        case .complete: return nil
        case .cut:
            note(exchange, .clientLeft)
            return .close
        case .malformed:
            note(exchange, .closed)
            return refuse(.init(reason: "bad chunk"))
        }
    }

    private func refuse(_ problem: RequestHead.Malformed) -> Ending {
        let body = problem.reason + "\n"
        _ = channel.send(
            Array(
                ("HTTP/1.1 \(problem.status) \(ReasonPhrase.of(problem.status))\r\nConnection: close\r\n"
                    + "Content-Type: text/plain\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8
            )
        )
        return closeInOrder(linger: 2000)
    }

    /// Sends FIN and reads the client's remaining data, because closing with unread data would reset the connection.
    private func closeInOrder(linger milliseconds: Int32) -> Ending {
        channel.finish()
        _ = reader.drain(milliseconds: max(1, milliseconds))
        return .close
    }

    // MARK: The log

    private func log(_ head: RequestHead) -> Int {
        let isComplete = head.framing == .none
        return server.log.append(
            FaultServer.LogEntry(
                connection: number,
                number: requests,
                method: head.method,
                path: head.target,
                headers: head.headers.map { [$0.name, $0.value] },
                bodyLength: 0,
                bodySHA256: isComplete ? SHA256.ofNothing : nil,
                complete: isComplete,
                time: server.elapsed,
                unixTime: ServerTime.wall(),
                ended: nil
            )
        )
    }

    private func note(_ exchange: Exchange, _ ending: FaultServer.LogEntry.Ending) {
        guard let number = exchange.logNumber else { return }
        server.log.update(number) { $0.ended = ending }
    }
}

/// The sending side of a connection, and waits that end with the connection.
struct ConnectionWriter {
    let descriptor: Int32

    /// Sends FIN; the peer's data can still be read.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Waits without reading; on Darwin only the end of both directions is detected.
    func waitForPeerToLeave() {
        #if canImport(Darwin)
        let events: Int16 = 0
        #else
        // POLLRDHUP, which glibc declares for GNU sources only.
        let events: Int16 = 0x2000
        #endif
        var wait = pollfd(fd: descriptor, events: events, revents: 0)
        while poll(&wait, 1, -1) < 0, errno == EINTR {}
    }

    /// Waits; returns `false` if the connection broke.
    @discardableResult
    func wait(for duration: Duration) -> Bool {
        // Without events, only an error or a shutdown of both directions ends the wait early.
        var wait = pollfd(fd: descriptor, events: 0, revents: 0)
        let deadline = ServerTime.monotonic() + Double(duration.milliseconds) / 1000
        while true {
            let left = deadline - ServerTime.monotonic()
            guard left > 0 else { return true }
            let result = poll(&wait, 1, Int32((left * 1000).rounded(.up)))
            if result > 0 { return false }
            if result < 0, errno != EINTR { return false }
        }
    }

    func send(_ bytes: [UInt8]) -> Bool {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        return bytes.withUnsafeBytes { raw in
            guard let base = raw.baseAddress else { return true }
            var sent = 0
            while sent < raw.count {
                let count = Self.systemSend(descriptor, base + sent, raw.count - sent, flags)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    private static func systemSend(_ descriptor: Int32, _ base: UnsafeRawPointer, _ count: Int, _ flags: Int32) -> Int {
        #if canImport(Glibc)
        Glibc.send(descriptor, base, count, flags)
        #elseif canImport(Musl)
        Musl.send(descriptor, base, count, flags)
        #else
        Darwin.send(descriptor, base, count, flags)
        #endif
    }
}
