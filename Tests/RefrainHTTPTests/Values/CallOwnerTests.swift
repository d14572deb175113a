import RefrainHTTP
import Testing

@Suite("CallOwner")
struct CallOwnerTests {
    @Test("A caller is held until its call is over, and then by nobody")
    func ends() {
        weak var left: Idle?
        let owner: CallOwner
        do {
            let caller = Idle()
            left = caller
            owner = CallOwner(caller)
        }
        #expect(owner.caller === left)
        #expect(left != nil)
        owner.letGo()
        #expect(owner.caller == nil)
        #expect(!owner.hold())
        #expect(left == nil)
    }

    @Test("Whoever holds a caller has it beyond the end of its call")
    func held() {
        weak var left: Idle?
        let owner: CallOwner
        do {
            let caller = Idle()
            left = caller
            owner = CallOwner(caller)
        }
        #expect(owner.hold())
        owner.letGo()
        #expect(owner.caller != nil)
        owner.letGo()
        #expect(owner.caller == nil)
        #expect(left == nil)
    }

    @Test("Those who ask while a call ends get the caller or nil, and leave nothing behind")
    func races() async {
        for _ in 0..<200 {
            weak var left: Idle?
            let owner: CallOwner
            do {
                let caller = Idle()
                left = caller
                owner = CallOwner(caller)
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        guard number > 0 else { return owner.letGo() }
                        for _ in 0..<50 where owner.caller?.isIdle == false { Issue.record("not the caller") }
                    }
                }
            }
            #expect(owner.caller == nil)
            #expect(left == nil)
        }
    }
}

private final class Idle: Caller {
    func note(_ attempts: [AttemptRecord]) {}
    func cancelTask() {}
}

extension Caller {
    fileprivate var isIdle: Bool { self is Idle }
}
