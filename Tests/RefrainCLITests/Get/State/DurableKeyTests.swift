// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
import RefrainQueue
import SyncCounter
import Testing

@testable import RefrainCLI

@Suite("What is on the disk before a request is sent")
struct DurableKeyTests {
    @Test("R5: a key, and that its request is about to be sent, are on the disk before the request is")
    func keys() async throws {
        let folder = try ScratchFile()
        try folder.makeFolder()
        let path = folder.path + "/" + Directory.stateName
        let state = try ListState(path: path, option: "--output-dir")
        let counter = sync_counter_watch(path)
        func order(_ number: Int) -> RequestList.New {
            let url = "http://h/\(number)"
            return RequestList.New(name: "POST \(url)", method: "POST", url: url, key: "key \(number)")
        }
        // The first transaction of a journal is synchronized in any case.
        _ = try await state.register([order(1)], isDurable: true)
        let begun = sync_counter_syncs(counter)
        _ = try await state.register([order(2)], isDurable: false)
        #expect(sync_counter_syncs(counter) == begun)
        let third = try await state.register([order(3)], isDurable: true).compactMap(\.self)
        let registered = sync_counter_syncs(counter)
        #expect(registered > begun)
        #expect(try await state.claim(third) == [true])
        let claimed = sync_counter_syncs(counter)
        try await state.begin(third[0], at: 1_000_000)
        #expect(sync_counter_syncs(counter) > claimed)
    }
}
#endif
