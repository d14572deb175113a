import Testing

@testable import RefrainHTTP

@Suite("The turns of a credential")
struct CredentialTurnsTests {
    @Test("R27: in every order of events there is one round at a time, and no refused credential is handed out again")
    func model() {
        forEachSeed { random in
            var turns = CredentialTurns<Int>()
            var open: Int?
            var present: Int?
            var refused: Set<Int> = []
            /// Requests under way: what they were signed with.
            var sent: [(credential: Int, ticket: CredentialTurns<Int>.Ticket)] = []
            func isLegal(_ step: CredentialTurns<Int>.Step) -> Bool {
                switch step {
                case .use(let credential, let ticket):
                    guard open == nil, credential == present, !refused.contains(credential) else { return false }
                    sent.append((credential, ticket))
                    return true
                case .join: return open != nil
                case .start(let round, let old):
                    guard open == nil, old == present, old.map(refused.contains) ?? true else { return false }
                    open = round
                    return true
                // Only somebody who was under way shares a failure, never one who begins.
                case .fail: return false
                }
            }
            for number in 1...Int.random(in: 1...50, using: &random) {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4:
                    guard isLegal(turns.sign { _ in true }) else { return false }
                case 4..<7:
                    guard !sent.isEmpty else { continue }
                    let request = sent.remove(at: Int.random(in: 0..<sent.count, using: &random))
                    let step = turns.refused(request.ticket) { _ in true }
                    if case .fail = step {
                        guard open == nil else { return false }
                        continue
                    }
                    if request.credential == present { refused.insert(request.credential) }
                    guard isLegal(step) else { return false }
                case 7, 8:
                    guard let round = open else { continue }
                    let succeeds = Bool.random(using: &random)
                    let isStray = turns.end(round: round &+ 1, with: .success(0))
                    let isExpected = turns.end(
                        round: round,
                        with: succeeds ? .success(number) : .failure(.declined("no"))
                    )
                    guard !isStray, isExpected else { return false }
                    open = nil
                    if succeeds { present = number }
                default:
                    guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
                    turns.forget()
                    open = nil
                    present = nil
                }
                guard turns.round == open, turns.credential == present else { return false }
            }
            return true
        }
    }
}
