// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
import SyncCounter
import Testing

@testable import RefrainCLI

@Suite("What is on the disk before a request is sent")
struct DurableKeyTests {
    @Test("R5: a key, and that its request is about to be sent, are on the disk before the request is")
    func keys() throws {
        let folder = try ScratchFile()
        try folder.makeFolder()
        let path = folder.path + "/" + Directory.stateName
        let state = try TransferState(path: path, option: "--output-dir")
        let counter = sync_counter_watch(path)
        var order = TransferState.Entry(identity: "POST http://h/1", url: "http://h/1", method: "POST", name: nil)
        order.key = "a key"
        _ = try state.register([order], isDurable: true)
        let registered = sync_counter_syncs(counter)
        #expect(registered > 0)
        try state.begin(order, at: 1_000_000)
        #expect(sync_counter_syncs(counter) > registered)
    }
}
#endif
