// SPDX-License-Identifier: Apache-2.0
import FuzzSupport
import RefrainCore

@testable import RefrainHTTP

fuzz { start, count in
    for challenge in AuthenticationChallenge.parse(fieldValues: lines(start, count)) {
        precondition(!challenge.scheme.isEmpty && challenge.scheme == challenge.scheme.lowercased(), "not a scheme")
        precondition(challenge.token68 == nil || challenge.parameters.isEmpty, "a token and parameters")
        precondition(challenge.parameters.allSatisfy { challenge[parameter: $0.name] != nil }, "a lost parameter")
    }
    return 0
}
