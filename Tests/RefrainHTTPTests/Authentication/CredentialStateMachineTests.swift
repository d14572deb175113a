// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("CredentialStateMachine", .computing)
struct CredentialStateMachineTests {
    @Test("R27: in every order of events one refresh runs at a time, and no refused credential is used again")
    func model() {
        forEachSeed { random in
            var machine = CredentialStateMachine<Int>()
            var open: Int?
            var present: Int?
            var refused: Set<Int> = []
            /// The requests in flight: what they were signed with.
            var sent: [(credential: Int, version: CredentialVersion)] = []
            func isLegal(_ step: CredentialStateMachine<Int>.Step) -> Bool {
                switch step {
                case .use(let credential, let version):
                    guard open == nil, credential == present, !refused.contains(credential) else { return false }
                    sent.append((credential, version))
                    return true
                case .join: return open != nil
                case .refresh(let generation, let old):
                    guard open == nil, old == present, old.map(refused.contains) ?? true else { return false }
                    open = generation
                    return true
                // Only a request that was in flight shares a failure, never one that begins.
                case .fail, .unsigned: return false
                }
            }
            for number in 1...Int.random(in: 1...50, using: &random) {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4:
                    guard isLegal(machine.sign { _ in true }) else { return false }
                case 4..<7:
                    guard !sent.isEmpty else { continue }
                    let request = sent.remove(at: Int.random(in: 0..<sent.count, using: &random))
                    let step = machine.refused(request.version) { _ in true }
                    if case .fail = step {
                        guard open == nil else { return false }
                        continue
                    }
                    if request.credential == present { refused.insert(request.credential) }
                    guard isLegal(step) else { return false }
                case 7, 8:
                    guard let generation = open else { continue }
                    let succeeds = Bool.random(using: &random)
                    let isStray = machine.end(generation: generation &+ 1, with: .success(0))
                    let isExpected = machine.end(
                        generation: generation,
                        with: succeeds ? .success(number) : .failure(AuthenticationFailure.declined("no"))
                    )
                    guard !isStray, isExpected else { return false }
                    open = nil
                    if succeeds { present = number }
                default:
                    guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
                    machine.replace(with: nil)
                    open = nil
                    present = nil
                }
                guard machine.generation == open, machine.credential == present else { return false }
            }
            return true
        }
    }

    @Test("R27: a request that needs no credential beforehand is sent unsigned, and its refusal starts a refresh")
    func unsigned() {
        var machine = CredentialStateMachine<Int>()
        guard case .unsigned(let version) = machine.sign(obtaining: false, if: { _ in true }) else {
            Issue.record("it was not sent unsigned")
            return
        }
        guard case .refresh(let generation, nil) = machine.refused(version, if: { _ in true }) else {
            Issue.record("no refresh was started")
            return
        }
        let isEnded = machine.end(generation: generation, with: .success(7))
        #expect(isEnded)
        guard case .use(7, _) = machine.refused(version, if: { _ in true }) else {
            Issue.record("the new credential was not used")
            return
        }
    }

    @Test("a credential from outside ends the refresh; without one, requests fail as they are told to")
    func replaced() {
        var machine = CredentialStateMachine(1, missing: Auth.Failure.missingCredential)
        guard case .refresh(let generation, 1) = machine.refused(machine.version, marking: false, if: { _ in true })
        else {
            Issue.record("no refresh was started")
            return
        }
        machine.replace(with: 2)
        let isEnded = machine.end(generation: generation, with: .success(3))
        #expect(!isEnded)
        #expect(machine.credential == 2)
        machine.replace(with: nil)
        guard case .fail(Auth.Failure.missingCredential) = machine.sign(if: { _ in true }) else {
            Issue.record("it did not fail")
            return
        }
    }

    @Test("more refreshes than the window allows fail, until it has passed")
    func window() throws {
        let window = Auth.RefreshWindow(interval: .seconds(30), maximumAttempts: 1)
        var machine = CredentialStateMachine(1, window: window)
        guard case .refresh(let generation, _) = machine.refused(machine.version, now: .zero, if: { _ in true }) else {
            Issue.record("no refresh was started")
            return
        }
        let isEnded = machine.end(generation: generation, with: .success(2))
        #expect(isEnded)
        for (now, isAllowed) in [(Duration.seconds(29), false), (.seconds(30), true)] {
            switch machine.refused(machine.version, now: now, if: { _ in true }) {
            case .fail(Auth.Failure.excessiveRefresh): #expect(!isAllowed)
            case .refresh: #expect(isAllowed)
            default: Issue.record("an unexpected step at \(now)")
            }
        }
    }
}
