// SPDX-License-Identifier: Apache-2.0
extension Route {
    static let redirects: [Route] = [
        Route(
            "/redirect/N",
            example: "/redirect/3",
            "N redirects, then /ok; status=, absolute=1",
            options: ["status", "absolute"],
            kind: .plain
        ) { call in
            let hops = try call.argument("N")
            guard hops > 0 else { return [.respond(.ok)] }
            let query = call.request.target.drop { $0 != "?" }
            let next = hops == 1 ? "/ok" : "/redirect/\(hops - 1)\(query)"
            let base = try call.flag("absolute") ? "http://127.0.0.1:\(call.server.port)" : ""
            return [try redirect(call, to: base + next)]
        },
        Route(
            "/redirect-to",
            example: "/redirect-to?url=/ok",
            "a redirect to url= with status= and retry-after=",
            options: ["url", "status", "retry-after"]
        ) { call in
            guard let url = call.text("url") else { throw BadOption(name: "url", value: "") }
            return [try redirect(call, to: url)]
        },
        Route("/redirect-loop", example: "/redirect-loop", "redirects to itself", options: ["status"]) { call in
            [try redirect(call, to: call.request.target)]
        },
        Route("/redirect-no-location", example: "/redirect-no-location", "a 302 without Location", options: ["status"])
        {
            call in [try redirect(call, to: nil)]
        },
    ]

    private static func redirect(_ call: Call, to location: String?) throws -> Step {
        var response = Response.text(try call.integer("status", 302, in: 300...399), "elsewhere\n")
        if let location { response.headers.append(("Location", location)) }
        for value in call.texts("retry-after") {
            response.headers.append(("Retry-After", HTTPDateText.expanded(value, now: ServerTime.wall())))
        }
        return .respond(response)
    }
}
