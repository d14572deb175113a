// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// A line of a list that is a JSON object: one request with its own settings.
///
/// Strict: unknown members are refused, so that a misspelled one does not change what is sent.
enum RequestLine {
    private static let members = ["url", "method", "headers", "body", "bodyFile", "output", "key"]

    /// Reads a line.
    ///
    /// - Parameter position: the file and the number of the line, for messages.
    static func parse(_ line: [UInt8], at position: ListedRequest.Position) throws(UsageError) -> ListedRequest {
        let location = "\(position)"
        func refuse(_ what: String) -> UsageError { UsageError("\(location): \(what)") }
        let node: JSONNode
        do throws(JSONNode.Failure) {
            node = try JSONNode.parse(line)
        } catch {
            throw refuse("is not valid JSON: \(error)")
        }
        guard case .object(let given) = node.value else { throw refuse("is not a JSON object") }
        if let odd = given.first(where: { !members.contains($0.name) }) {
            let meant = SuggestionFinder.nearest(to: odd.name, among: members).map { "; did you mean \"\($0)\"?" }
            let known = "; the members are \(members.joined(separator: ", "))"
            throw refuse("has the unknown member \(Sanitized.text(odd.name))\(meant ?? known)")
        }
        func text(_ name: String) throws(UsageError) -> String? {
            guard let node = node[name] else { return nil }
            guard let text = node.text else { throw refuse("\"\(name)\" is \(node.kind), not a string") }
            return text
        }
        guard let url = try text("url") else { throw refuse("lacks \"url\"") }
        try URLList.check(url, "\(location): \"url\"")
        var request = ListedRequest.Members()
        request.method = try text("method")
        if let method = request.method, !HTTPMethod(rawValue: method).isValid {
            throw refuse("\"method\" is \(Sanitized.text(method)), which is not a method (RFC 9110 §5.6.2)")
        }
        if let headers = node["headers"] {
            request.headers = try fields(headers, location)
            do throws(HTTPError) {
                _ = try HTTPRequest(url, headers: HTTPHeaders(request.headers.map { ($0.name, $0.value) })).validated()
            } catch {
                throw refuse("\"headers\": \(error.message ?? error.code.rawValue)")
            }
        }
        if let output = try text("output") { request.output = try checked(output, location) }
        if let key = try text("key") {
            guard !key.isEmpty, key.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw refuse("\"key\" must be printable ASCII, and not empty")
            }
            request.key = key
        }
        try readBody(node, line, try text("bodyFile"), location, &request)
        return ListedRequest(url: url, request, position: position)
    }

    private static func readBody(
        _ node: JSONNode,
        _ line: [UInt8],
        _ file: String?,
        _ location: String,
        _ request: inout ListedRequest.Members
    ) throws(UsageError) {
        guard let body = node["body"] else {
            guard let file else { return }
            let option = "\(location): \"bodyFile\""
            let content = try BodyText.FileContent(file, option: option)
            request.body = content.body(BodyText.contentType)
            request.bodyDigest = "@\(file) " + (try content.digest(option: option))
            return
        }
        guard file == nil else { throw UsageError("\(location): \"body\" and \"bodyFile\" exclude each other") }
        if let text = body.text {
            request.body = .bytes(Array(text.utf8), contentType: BodyText.contentType)
            request.bodyDigest = text
        } else {
            // As it was written, with all digits of numbers and the order of members.
            request.body = .bytes(Array(line[body.range]), contentType: "application/json")
            request.bodyDigest = String(decoding: line[body.range], as: UTF8.self)
        }
    }

    private static func fields(_ node: JSONNode, _ location: String) throws(UsageError) -> [(
        name: String, value: String
    )] {
        guard case .object(let members) = node.value else {
            throw UsageError("\(location): \"headers\" is \(node.kind), not an object")
        }
        var fields: [(name: String, value: String)] = []
        for (name, value) in members {
            guard let text = value.text else {
                throw UsageError("\(location): \"headers\": \(Sanitized.text(name)) is \(value.kind), not a string")
            }
            fields.append(try HeaderText.parse("\(name): \(text)", option: "\(location): \"headers\""))
        }
        return fields
    }

    /// A path inside of the output folder.
    private static func checked(_ output: String, _ location: String) throws(UsageError) -> String {
        let parts = output.split(separator: "/", omittingEmptySubsequences: false)
        let isInside = parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && !$0.utf8.contains(0) }
        guard isInside, !(parts.last ?? "").hasPrefix(".refrain") else {
            throw UsageError(
                "\(location): \"output\" is \(Sanitized.text(output)); it is a path inside of the output folder, such as a/b.json"
            )
        }
        // NAME_MAX of the common file systems; otherwise the response would come, and could not be stored.
        guard parts.allSatisfy({ $0.utf8.count <= 255 }) else {
            throw UsageError("\(location): \"output\" has a name of more than 255 bytes")
        }
        guard !parts.contains(where: PartialNames.isPartial) else {
            throw UsageError(
                "\(location): \"output\" is \(Sanitized.text(output)); names such as .NAME.part are for partial files"
            )
        }
        return output
    }
}
