// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCurl

@Suite("The connections that a loop keeps account of")
struct ConnectionTableTests {
    @Test("what is known of a connection outlives a socket that another one had before under the same addresses")
    func sameAddresses() {
        var connections = ConnectionTable()
        _ = connections.note(1, socket: 9)
        // The first one was closed; its addresses are used again, and its socket's number by another connection.
        let second = connections.note(1, socket: 11)
        let third = connections.note(2, socket: 9)
        #expect(connections[1] === second)
        #expect(connections[2] === third)
        _ = connections.note(3, socket: 11)
        #expect(connections[1] == nil)
    }
}
