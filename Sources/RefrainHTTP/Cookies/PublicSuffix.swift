// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Domains whose subdomains belong to different owners, so that a cookie must not cover them (RFC 6265 §5.3).
///
/// The list of all of them (publicsuffix.org) changes every week. On Linux it is libpsl's, which the distribution keeps
/// up to date and which its libcurl needs. It is loaded when the first cookie with a domain arrives, so that a program
/// without cookies does not pay for it. Where there is no libpsl, a rule stands in for it. The rule refuses names of
/// one label, the usual second levels of the country codes, such as `co.uk`, and hosters with many users.
enum PublicSuffix {
    /// Whether the list of the machine is used.
    static var hasList: Bool { list != nil }

    /// Whether a domain, in lower case and in its ASCII form, is a public suffix.
    static func contains(_ domain: String) -> Bool {
        // A dot at the end only marks the name as complete.
        let domain = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        return list.map { $0.contains(domain) } ?? isUsual(domain)
    }

    /// Whether the built-in rule takes a domain for a public suffix.
    static func isUsual(_ domain: String) -> Bool {
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let last = labels.last else { return true }
        if labels.count == 2, last.utf8.count == 2, secondLevels.contains(String(labels[0])) { return true }
        return hosters.contains(domain)
    }

    private static let list = List()

    /// The list of libpsl: the newest of the machine, from the distribution's package or built into the library.
    private struct List: @unchecked Sendable {
        // @unchecked Sendable: libpsl's list is read-only once it is loaded, and it stays loaded.
        private typealias Latest = @convention(c) (UnsafePointer<CChar>?) -> UnsafeRawPointer?
        private typealias IsSuffix = @convention(c) (UnsafeRawPointer, UnsafePointer<CChar>, CInt) -> CInt
        /// `PSL_TYPE_ANY`: the suffixes of registries, and those of companies.
        private static let anyType: CInt = 3

        private let list: UnsafeRawPointer
        private let isSuffix: IsSuffix

        init?() {
            guard let library = dlopen("libpsl.so.5", RTLD_NOW | RTLD_LOCAL), let latest = dlsym(library, "psl_latest"),
                let isSuffix = dlsym(library, "psl_is_public_suffix2"),
                let list = unsafeBitCast(latest, to: Latest.self)(nil)
            else { return nil }
            self.list = list
            self.isSuffix = unsafeBitCast(isSuffix, to: IsSuffix.self)
        }

        func contains(_ domain: String) -> Bool { isSuffix(list, domain, Self.anyType) != 0 }
    }

    private static let secondLevels: Set<String> = [
        "ac", "co", "com", "edu", "gob", "gov", "gouv", "gv", "id", "ltd", "me", "mil", "ne", "net", "nhs", "nom", "or",
        "org", "plc", "police", "sch", "web",
    ]

    private static let hosters: Set<String> = [
        "appspot.com", "azurewebsites.net", "blogspot.com", "cloudfront.net", "firebaseapp.com", "fly.dev",
        "github.io", "gitlab.io", "herokuapp.com", "netlify.app", "onrender.com", "pages.dev", "readthedocs.io",
        "s3.amazonaws.com", "vercel.app", "web.app", "workers.dev",
    ]
}
