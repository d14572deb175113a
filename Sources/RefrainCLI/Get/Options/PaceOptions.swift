// SPDX-License-Identifier: Apache-2.0
extension CommandSpec.Group {
    /// The limits of a server.
    static let pace = CommandSpec.Group(
        title: "Keeping a server's limits",
        category: "pace",
        options: [
            OptionSpec(
                .pace,
                aliases: ["rate"],
                .required("LIMITS"),
                "Send at most this much to each server: 50/s, 500/m, or 500/m,200000t/m for requests and tokens (or another cost) "
                    + "per s, m, h, d or a duration such as 10s. Retries count. Without --pace, a refusal that names a time (429 with Retry-After) holds all requests to that server until then."
            ),
            OptionSpec(
                .costField,
                .required("MEMBER"),
                "The member of a JSON response that says what the request cost, such as usage.total_tokens; + adds several. --report has it for each request."
            ),
            OptionSpec(
                .costEstimate,
                .required("MEMBER"),
                "What a request is expected to cost: a member of its JSON body, a number, or a sum such as max_tokens+200. "
                    + "The response corrects it. Default: the mean of the responses so far."
            ),
            OptionSpec(
                .profile,
                .required("NAME"),
                "Read refusals as this server means them: its rate-limit fields, statuses and error codes. A limit of spending ends a request at once.",
                choices: ProfileName.allCases.map(\.rawValue)
            ),
        ]
    )
}
