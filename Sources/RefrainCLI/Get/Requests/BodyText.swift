// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// Bodies as they are written on the command line, in curl's forms.
struct BodyText: Sendable {
    /// The body; empty where there is none.
    var body = HTTPBody.empty
    /// Whether an option gave a body, even an empty one.
    var isGiven = false
    /// Fields that belong to the form of the body.
    var headers: [(name: String, value: String)] = []
    /// The query that is added to the URL: the data of `--get`, and `--url-query`.
    var query: String?
    /// The options that make it, for messages.
    var queryOption = "--url-query"
    /// Whether it is the content of a file to be uploaded, with PUT.
    var isUpload = false
    /// The boundary between the parts of a form; nil: it is not a form.
    private(set) var boundary: String?
    /// The file of an upload, whose name a URL that ends in a slash takes.
    var uploadName: String?
    /// The identity of the body.
    var digest = ""

    /// The default media type of a body that is given as text: that of curl.
    static let contentType = "application/x-www-form-urlencoded"

    /// Up to this size a file is read when the command begins: the content of a small file may differ from its size.
    static let readAtOnce = 65_536

    private static let dataOptions: Set<OptionName> = [.data, .dataRaw, .dataBinary, .dataUrlencode, .json]

    /// Reads the options that make a body.
    init(_ arguments: Arguments) throws(UsageError) {
        let data = arguments.given.filter { Self.dataOptions.contains($0.name) }
        let forms = arguments.given.filter { $0.name == .form || $0.name == .formString }
        let kinds = [!data.isEmpty, !forms.isEmpty, arguments.has(.uploadFile)].count { $0 }
        guard kinds <= 1 else { throw UsageError("one kind of body at a time: --data, --form or --upload-file") }
        guard !arguments.has(.get) || (forms.isEmpty && !arguments.has(.uploadFile)) else {
            throw UsageError("--get sends the data of --data in the query, and no form or file")
        }
        isGiven = kinds == 1
        digest = (data + forms).map(\.value).joined(separator: "&") + (arguments.last(.uploadFile) ?? "")
        var query: [String] = []
        if arguments.has(.get) {
            if !data.isEmpty { query.append(String(decoding: try Self.joined(data), as: UTF8.self)) }
            (isGiven, digest) = (false, "")
            if let name = data.first?.name.rawValue { queryOption = "--\(name)" }
        } else if !data.isEmpty {
            try readData(data)
        } else if !forms.isEmpty {
            let boundary = HTTPBody.randomBoundary
            body = try FormText.body(forms, boundary: boundary)
            self.boundary = boundary
        } else if let path = arguments.last(.uploadFile) {
            isUpload = true
            let name = path.split(separator: "/").last.map { Self.percentEncoded(Array($0.utf8), space: "%20") }
            uploadName = path == "-" || path == "." ? nil : name
            body = try Self.file(path == "." ? "-" : path, option: "--upload-file", contentType: nil)
        }
        for text in arguments.all(.urlQuery) {
            // A leading plus sign: as it is.
            let isPlain = text.hasPrefix("+")
            query.append(try isPlain ? String(text.dropFirst()) : Self.encoded(text, option: "--url-query"))
        }
        if query.contains(where: { !$0.isEmpty }) { self.query = query.joined(separator: "&") }
    }

    private mutating func readData(_ data: [(name: OptionName, value: String)]) throws(UsageError) {
        let isJSON = data.allSatisfy { $0.name == .json }
        guard isJSON || !data.contains(where: { $0.name == .json }) else {
            throw UsageError("--json and --data exclude each other")
        }
        let type = isJSON ? "application/json" : Self.contentType
        if isJSON { headers = [("Accept", "application/json")] }
        if data.count == 1, data[0].name != .data, let path = Self.path(data[0]) {
            body = try Self.file(path, option: "--\(data[0].name.rawValue)", contentType: type)
        } else {
            body = .bytes(try Self.joined(data), contentType: type)
        }
    }

    /// The file that a value names.
    private static func path(_ item: (name: OptionName, value: String)) -> String? {
        guard item.name != .dataRaw, item.name != .dataUrlencode, item.value.hasPrefix("@") else { return nil }
        return String(item.value.dropFirst())
    }

    /// All values, joined by `&`; those of `--json` by nothing.
    private static func joined(_ data: [(name: OptionName, value: String)]) throws(UsageError) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, item) in data.enumerated() {
            if index > 0, item.name != .json { bytes.append(UInt8(ascii: "&")) }
            let option = "--\(item.name.rawValue)"
            if let path = path(item) {
                let file = try Input.contents(path, option)
                // As curl does: --data is for text on one line, --data-binary takes a file as it is.
                bytes += item.name == .data ? file.filter { $0 != 0x0D && $0 != 0x0A && $0 != 0 } : file
            } else if item.name == .dataUrlencode {
                bytes += try encoded(item.value, option: option).utf8
            } else {
                bytes += item.value.utf8
            }
        }
        return bytes
    }

    /// A value in curl's forms, percent-encoded: `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` and `NAME@FILE`.
    private static func encoded(_ text: String, option: String) throws(UsageError) -> String {
        guard let mark = text.firstIndex(where: { $0 == "=" || $0 == "@" }) else {
            return percentEncoded(Array(text.utf8))
        }
        let name = text[..<mark]
        let rest = String(text[text.index(after: mark)...])
        let content = try text[mark] == "@" ? Input.contents(rest, option) : Array(rest.utf8)
        return name.isEmpty ? percentEncoded(content) : "\(name)=\(percentEncoded(content))"
    }

    private static func percentEncoded(_ bytes: [UInt8], space: String = "+") -> String {
        var text = ""
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            // As the command curl writes a space.
            case UInt8(ascii: " "): text += space
            default: text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }

    /// The body of a file: read now if it is small, and while it is sent otherwise.
    static func file(
        _ path: String,
        option: String,
        contentType: String? = BodyText.contentType
    ) throws(UsageError) -> HTTPBody {
        try FileContent(path, option: option).body(contentType)
    }
}

extension BodyText {
    /// The content of a file that is sent: its bytes if they are few, and otherwise where they are.
    enum FileContent {
        case bytes([UInt8])
        case file(String)

        /// Opens a file; the content of a pipe is stored in an unlinked one, because it may have to be sent again.
        init(_ path: String, option: String) throws(UsageError) {
            do throws(SystemError) {
                let input = try Input(path: path, isBounded: true)
                if path != "-", let size = input.fileSize, size > readAtOnce {
                    self = .file(path)
                    return
                }
                let beginning = try input.rest(upTo: readAtOnce)
                self =
                    if beginning.count > readAtOnce {
                        .file(try UnlinkedTemporaryFile.path(holding: beginning, and: input))
                    } else {
                        .bytes(beginning)
                    }
            } catch {
                throw UsageError("\(option): \(error)")
            }
        }

        func body(_ contentType: String?) -> HTTPBody {
            switch self {
            case .bytes(let bytes): .bytes(bytes, contentType: contentType)
            case .file(let path): .file(path, contentType: contentType)
            }
        }

        /// The size and the SHA-256, of a file read piece by piece.
        func digest(option: String) throws(UsageError) -> String {
            let computation = ContentDigest.Computation(.sha256)
            var size = 0
            func add(_ bytes: some Sequence<UInt8>) {
                let bytes = Array(bytes)
                bytes.withUnsafeBytes { computation.update($0) }
                size += bytes.count
            }
            switch self {
            case .bytes(let bytes): add(bytes)
            case .file(let path):
                do throws(SystemError) {
                    let input = try Input(path: path)
                    while let chunk = try input.next() { add(chunk) }
                } catch {
                    throw UsageError("\(option): \(error)")
                }
            }
            return "\(size) \(ContentDigest.hex(computation.finish()))"
        }
    }
}
