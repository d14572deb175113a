// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCLI

@Suite("Names of files in Content-Disposition")
struct DispositionFieldTests {
    @Test(
        "filename is read as it stands, with the last part of a path alone",
        arguments: [
            ("attachment; filename=\"a;b.txt\"", "a;b.txt"), ("attachment; filename=\"q\\\"u.txt\"; x=y", "q_u.txt"),
            ("attachment; filename=\"C:\\dir\\f.txt\"", "f.txt"),
            ("attachment; x=\"filename=no\"; FileName=up.txt", "up.txt"),
            ("attachment; filename=\"\u{301}a;b.txt\"", "\u{301}a;b.txt"), ("x; filename=\u{301}a;x=y", "\u{301}a"),
            ("attachment; filename=\"..\\\\..\\\\z\"", "z"), ("attachment; filename=\"/etc/passwd\"", "passwd"),
        ]
    )
    func names(field: String, name: String) { #expect(DispositionField.filename(field) == name) }

    /// The cases of the collection "Test Cases for HTTP Content-Disposition" (greenbytes.de/tech/tc2231), by what RFC
    /// 6266 makes of them; where it calls a field malformed, what is still useful in it counts.
    @Test(
        "the published cases of RFC 6266 give these names",
        arguments: [
            ("inline", nil), ("\"inline\"", nil), ("inline; filename=\"foo.html\"", "foo.html"),
            ("inline; filename=\"Not an attachment!\"", "Not an attachment!"),
            ("inline; filename=\"foo.pdf\"", "foo.pdf"), ("attachment", nil), ("ATTACHMENT", nil),
            ("attachment; filename=\"foo.html\"", "foo.html"),
            ("attachment; filename=\"0000000000111111111122222\"", "0000000000111111111122222"),
            ("attachment; filename=\"f\\oo.html\"", "oo.html"),
            ("attachment; filename=\"\\\"quoting\\\" tested.html\"", "_quoting_ tested.html"),
            ("attachment; filename=\"Here's a semicolon;.html\"", "Here's a semicolon;.html"),
            ("attachment; foo=\"bar\"; filename=\"foo.html\"", "foo.html"),
            ("attachment; foo=\"\\\"\\\\\";filename=\"foo.html\"", "foo.html"),
            ("attachment; FILENAME=\"foo.html\"", "foo.html"), ("attachment; filename=foo.html", "foo.html"),
            ("attachment; filename=foo,bar.html", "foo,bar.html"), ("attachment; filename=foo.html ;", "foo.html"),
            ("attachment; ;filename=foo", "foo"), ("attachment; filename=foo bar.html", "foo bar.html"),
            ("attachment; filename='foo.bar'", "'foo.bar'"), ("attachment; filename=\"foo-ä.html\"", "foo-ä.html"),
            ("attachment; filename=\"foo-%41.html\"", "foo-%41.html"),
            ("attachment; filename=\"50%.html\"", "50%.html"),
            ("attachment; filename=\"foo-%\\41.html\"", "41.html"), ("attachment; name=\"foo-%41.html\"", nil),
            ("attachment; filename=\"foo-%c3%a4-%e2%82%ac.html\"", "foo-%c3%a4-%e2%82%ac.html"),
            ("attachment; filename =\"foo.html\"", "foo.html"),
            ("attachment; filename=\"foo.html\"; filename=\"bar.html\"", "foo.html"),
            ("attachment; filename=foo[1](2).html", "foo[1](2).html"), ("filename=foo.html", nil),
            ("; filename=foo.html", "foo.html"), ("attachment; foo=foo filename=bar", nil),
            ("attachment filename=bar", nil), ("filename=foo.html; attachment", nil),
            ("attachment; xfilename=foo.html", nil), ("attachment; example=\"filename=example.txt\"", nil),
            ("attachment; filename=\"/foo.html\"", "foo.html"), ("attachment; filename=\"\\\\foo.html\"", "foo.html"),
            ("attachment; filename=", nil), ("attachment; filename", nil),
            ("attachment; filename=\"foo.html", "foo.html"),
            ("attachment; filename*=iso-8859-1''foo-%E4.html", "foo-ä.html"),
            ("attachment; filename*=UTF-8''foo-%c3%a4-%e2%82%ac.html", "foo-ä-€.html"),
            ("attachment; filename*=''foo-%c3%a4-%e2%82%ac.html", nil),
            ("attachment; filename*=UTF-8''foo-a%cc%88.html", "foo-a\u{308}.html"),
            ("attachment; filename*=utf-8''foo-%E4.html", nil),
            ("attachment; filename *=UTF-8''foo-%c3%a4.html", nil),
            ("attachment; filename*= UTF-8''foo-%c3%a4.html", "foo-ä.html"),
            ("attachment; filename* =UTF-8''foo-%c3%a4.html", "foo-ä.html"),
            ("attachment; filename*=\"UTF-8''foo-%c3%a4.html\"", nil),
            ("attachment; filename*=\"foo%20bar.html\"", nil),
            ("attachment; filename*=UTF-8'foo-%c3%a4.html", nil), ("attachment; filename*=UTF-8''foo%", nil),
            ("attachment; filename*=UTF-8''f%oo.html", nil), ("attachment; filename*=UTF-8''f%+4o.html", nil),
            ("attachment; filename*=UTF-8''A-%2541.html", "A-%41.html"),
            ("attachment; filename*=UTF-8''%5cfoo.html", "foo.html"),
            ("attachment; filename*=UTF-8'en'foo.html", "foo.html"),
            ("attachment; filename*0=\"foo.\"; filename*1=\"html\"", nil),
            ("attachment; filename*0*=UTF-8''foo-%c3%a4; filename*1=\".html\"", nil),
            ("attachment; filename=\"foo-ae.html\"; filename*=UTF-8''foo-%c3%a4.html", "foo-ä.html"),
            ("attachment; filename*=UTF-8''foo-%c3%a4.html; filename=\"foo-ae.html\"", "foo-ä.html"),
            (
                "attachment; filename*0*=ISO-8859-15''euro-sign%3d%a4; filename*=ISO-8859-1''currency-sign%3d%a4",
                "currency-sign=¤"
            ),
            ("attachment; foobar=x; filename=\"foo.html\"", "foo.html"),
            // Words of e-mail (RFC 2047) are none of HTTP.
            ("attachment; filename==?ISO-8859-1?Q?foo-=E4.html?=", "=_ISO-8859-1_Q_foo-=E4.html_="),
            ("attachment; filename=\"=?ISO-8859-1?Q?foo-=E4.html?=\"", "=_ISO-8859-1_Q_foo-=E4.html_="),
        ] as [(String, String?)]
    )
    func published(field: String, name: String?) { #expect(DispositionField.filename(field) == name) }

    @Test(
        "a filename* that is malformed or not understood leaves filename; no name leaves the folder, or says what it is not",
        arguments: [
            ("x; filename=a; filename*=UTF-8''%FF", "a"), ("x; filename*=koi8-r''%C1; filename=a", "a"),
            ("x; filename=a; filename*=UTF-8''b c", "a"), ("x; filename=a; filename*=UTF-8''", "a"),
            ("x; filename=a; filename*=UTF-8''..", "a"), ("x; filename=\"..\"", nil), ("x; filename=\". .\"", nil),
            ("x; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"), ("x; filename*=UTF-8''a%2F", "a"),
            ("x; filename*=UTF-8''%2e%2e%5cb", "b"), ("x; filename*=UTF-8''a%00b%0Ac%1b%5bd", "a_b_c_[d"),
            ("x; filename*=UTF-8''.profile", "profile"), ("x; filename*=UTF-8''-rf", "rf"),
            ("x; filename*=UTF-8''%E2%80%AEgpj.exe", "_gpj.exe"), ("x; filename*=iso-8859-1''a%9Bb", "a_b"),
        ] as [(String, String?)]
    )
    func safe(field: String, name: String?) { #expect(DispositionField.filename(field) == name) }
}
