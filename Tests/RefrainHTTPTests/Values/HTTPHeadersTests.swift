// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@Suite("Header fields")
struct HTTPHeadersTests {
    @Test(
        "B: values: names are the same whatever their case; order, spelling and repeats are kept"
    )
    func caseAndOrder() {
        let headers: HTTPHeaders = ["X-B": "1", "accept": "a", "x-b": "2"]
        #expect(headers["X-b"] == "1")
        #expect(headers[values: "X-B"] == ["1", "2"])
        #expect(headers.map(\.name) == ["X-B", "accept", "x-b"])
        #expect(headers["Missing"] == nil)
        #expect(headers[values: "Missing"].isEmpty)
        #expect(headers.description == "X-B: 1\naccept: a\nx-b: 2")
    }

    @Test("B: values: only ASCII letters have a case: [ is not {, and K is not the Kelvin sign")
    func asciiCase() {
        #expect(HTTPHeaders.isSame("Content-TYPE", "content-type"))
        #expect(!HTTPHeaders.isSame("a[", "a{"))
        #expect(!HTTPHeaders.isSame("@", "`"))
        #expect(!HTTPHeaders.isSame("K", "\u{212A}"))
        #expect(!HTTPHeaders.isSame("a", "ab"))
        #expect(HTTPHeaders.isSame("", ""))
    }

    @Test("a name is a token, and a value has neither control characters nor white space around it")
    func validity() {
        for name in ["X-B", "a", "!#$%&'*+-.^_`|~09"] { #expect(HTTPHeaders.isValidName(name), "\(name)") }
        for name in ["", "a b", "a:", "\u{E9}", "a\r\n", "(a)"] { #expect(!HTTPHeaders.isValidName(name), "\(name)") }
        for value in ["", "a b", "a\tb", "\u{E9}"] { #expect(HTTPHeaders.isValidValue(value), "\(value)") }
        for value in [" a", "a ", "\ta", "a\r\nB: c", "a\0", "\u{7F}"] {
            #expect(!HTTPHeaders.isValidValue(value), "\(value)")
        }
    }

    @Test("a field whose name tells that its value is a secret is one")
    func secrets() {
        for name in ["Authorization", "cookie", "X-Api-Key"] { #expect(HTTPHeaders.isSecret(name), "\(name)") }
        for name in ["Accept", "WWW-Authenticate", "ETag", ""] { #expect(!HTTPHeaders.isSecret(name), "\(name)") }
    }

    @Test(
        "B: values: setting puts one value at the place of the first; setting nil removes all; adding goes to the end"
    )
    func setting() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3", "C": "4"]
        headers["a"] = "5"
        #expect(headers.fields.map(\.value) == ["5", "2", "4"])
        headers.add("b", "6")
        #expect(headers[values: "B"] == ["2", "6"])
        headers["B"] = nil
        #expect(headers.fields.map(\.name) == ["a", "C"])
        headers["D"] = "7"
        #expect(headers.last?.value == "7")
        headers.remove("d")
        #expect(!headers.contains("D"))
    }

    @Test(
        "B: values: setting and reading agree with a plain list of pairs, in every order of changes"
    )
    func model() {
        forEachSeed { random in
            var headers = HTTPHeaders()
            var model: [(name: String, value: String)] = []
            for step in 0..<Int.random(in: 1...20, using: &random) {
                let name = ["a", "A", "b", "B"][Int.random(in: 0...3, using: &random)]
                let isSame = { (other: String) in other.lowercased() == name.lowercased() }
                switch Int.random(in: 0...2, using: &random) {
                case 0:
                    headers.add(name, "\(step)")
                    model.append((name, "\(step)"))
                case 1:
                    headers.remove(name)
                    model.removeAll { isSame($0.name) }
                default:
                    headers[name] = "\(step)"
                    if let first = model.firstIndex(where: { isSame($0.name) }) {
                        model[first] = (name, "\(step)")
                        let kept = model.enumerated().filter { $0.offset <= first || !isSame($0.element.name) }
                        model = kept.map(\.element)
                    } else {
                        model.append((name, "\(step)"))
                    }
                }
            }
            return headers.map(\.name) == model.map(\.name) && headers.map(\.value) == model.map(\.value)
        }
    }
}
