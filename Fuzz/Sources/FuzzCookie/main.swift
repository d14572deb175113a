// SPDX-License-Identifier: Apache-2.0
import FuzzSupport
import RefrainCore

@testable import RefrainHTTP

// Every line is a value of `Set-Cookie`.
fuzz { start, count in
    guard let source = try? HTTPRequest("https://www.example.com/a/b") else { return 0 }
    let jar = CookieJar()
    jar.insert(setCookie: lines(start, count), from: source.url)
    if let field = jar.field(for: source.url) {
        var request = source
        request.headers["Cookie"] = field
        precondition((try? request.validated()) != nil, "cannot be sent")
    }
    precondition(CookieJar(netscape: jar.netscapeText).cookies.count == jar.cookies.count, "cannot be stored")
    return 0
}
