internal import Refrain

/// Parts of a form as curl writes them: `NAME=TEXT`, `NAME=@FILE`, `NAME=<FILE`, with `;type=` and `;filename=`.
enum FormText {
    /// The body of all parts.
    static func body(_ forms: [(name: OptionName, value: String)]) throws(UsageError) -> HTTPBody {
        var parts: [HTTPBody.Part] = []
        for form in forms { parts.append(try part(form.value, isText: form.name == .formString)) }
        do {
            return try .multipart(parts)
        } catch {
            throw UsageError("--form: \(error)")
        }
    }

    private static func part(_ text: String, isText: Bool) throws(UsageError) -> HTTPBody.Part {
        let option = isText ? "--form-string" : "--form"
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw UsageError("\(option): a part lacks its name; write NAME=TEXT or NAME=@FILE")
        }
        let name = String(text[..<equals])
        let value = String(text[text.index(after: equals)...])
        guard !isText else { return .text(name, value) }
        let isFile = value.hasPrefix("@")
        var (content, settings) = try split(isFile || value.hasPrefix("<") ? String(value.dropFirst()) : value, option)
        let type = settings.removeValue(forKey: "type")
        let filename = settings.removeValue(forKey: "filename")
        if let odd = settings.keys.first {
            throw UsageError("\(option): \(Sanitized.text(odd)) is not known; type and filename are")
        }
        guard isFile || value.hasPrefix("<") else {
            return HTTPBody.Part(name: name, filename: filename, body: .text(content, contentType: type))
        }
        let known = type ?? Self.type(of: content) ?? (isFile ? "application/octet-stream" : nil)
        let body = try BodyText.file(content, option: option, contentType: known)
        let last = content == "-" ? "-" : content.split(separator: "/").last.map(String.init) ?? "file"
        return HTTPBody.Part(name: name, filename: isFile ? filename ?? last : filename, body: body)
    }

    /// The content, and the settings behind its semicolons.
    private static func split(_ text: String, _ option: String) throws(UsageError) -> (String, [String: String]) {
        var parts = text.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        var settings: [String: String] = [:]
        while parts.count > 1, let last = parts.last, let equals = last.firstIndex(of: "=") {
            let name = last[..<equals].drop { $0 == " " }
            guard name == "type" || name == "filename" else { break }
            settings[String(name)] = String(last[last.index(after: equals)...].filter { $0 != "\"" })
            parts.removeLast()
        }
        return (parts.joined(separator: ";"), settings)
    }

    /// What curl takes a file for, by its ending; nil where it says nothing.
    private static func type(of path: String) -> String? {
        let types = [
            ".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
            ".svg": "image/svg+xml", ".txt": "text/plain", ".htm": "text/html", ".html": "text/html",
            ".pdf": "application/pdf", ".xml": "application/xml",
        ]
        return types.first { path.lowercased().hasSuffix($0.key) }?.value
    }
}
