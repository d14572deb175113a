// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The cookies of a run.
struct CookieSettings: Sendable {
    /// The cookies that requests share; nil: none are kept.
    let jar: CookieJar?
    /// Where they are written at the end; nil: nowhere.
    let file: String?

    init(_ arguments: Arguments) throws(UsageError) {
        file = try arguments.file(.cookieJar)
        jar = Self.areUsed(arguments) ? try Self.read(arguments) : nil
    }

    /// Whether cookies of a response are sent with later requests.
    static func areUsed(_ arguments: Arguments) -> Bool {
        arguments.has(.cookieJar) || arguments.all(.cookie).contains { !$0.contains("=") }
    }

    /// The cookies of the files of `--cookie`, of which the jar may not exist yet.
    private static func read(_ arguments: Arguments) throws(UsageError) -> CookieJar {
        let jar = CookieJar()
        for file in arguments.all(.cookie) where !file.contains("=") && !file.isEmpty {
            guard file == "-" || Directory.kind(of: file) != .nothing else { continue }
            let text = String(decoding: try Input.contents(file, "--cookie"), as: UTF8.self)
            jar.insert(netscape: text)
            // Otherwise requests would be sent without their cookies.
            let isForeign = text.split(whereSeparator: \.isNewline).contains { line in
                line.lowercased().hasPrefix("set-cookie:")
            }
            if isForeign {
                throw .badValue(file, of: "--cookie", "has header fields; the form is that of --cookie-jar, Netscape's")
            }
        }
        return jar
    }
}
