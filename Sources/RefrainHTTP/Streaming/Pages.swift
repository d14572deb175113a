// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension HTTPResponse {
    /// The pages of a collection, loaded one after the other as they are read.
    ///
    /// ```swift
    /// for try await page in loader.pages(from: request) {
    ///     for order in try page.decode([Order].self) { print(order) }
    /// }
    /// ```
    ///
    /// Each page is a call of its own, with the attempts, the budget and the timeout that the request and the chain
    /// have. A response without a 2xx status ends the sequence with ``HTTPError/Code/badServerResponse``: a collection
    /// that breaks off is never taken for a complete one.
    public struct Pages: AsyncSequence, Sendable {
        /// One page.
        public typealias Element = HTTPResponse

        let loader: any HTTPLoader
        let first: HTTPRequest
        let limit: Int
        let next: @Sendable (HTTPResponse, HTTPRequest) async throws -> HTTPRequest?

        /// Starts with the first page.
        public func makeAsyncIterator() -> Iterator { Iterator(self) }

        /// Loads one page after the other.
        public struct Iterator: AsyncIteratorProtocol {
            let pages: Pages
            /// The request of the next page, or why it cannot be made; nil after the last page, and after an error.
            private var following: Result<HTTPRequest, any Error>?
            private var count = 0

            init(_ pages: Pages) {
                self.pages = pages
                following = .success(pages.first)
            }

            /// The next page, or nil after the last one.
            ///
            /// - Throws: `CancellationError` where the task was cancelled, else ``HTTPError``, or the error of the
            ///   closure that makes the next request.
            public mutating func next() async throws -> HTTPResponse? {
                guard let request = try following.take()?.get() else { return nil }
                guard count < pages.limit else {
                    let message = "there are more than \(pages.limit) pages"
                    throw HTTPError(.httpTooManyRedirects, request: request, message: message, bytesSent: 0)
                }
                count += 1
                let response = try await pages.loader.responseUnlessCancelled(for: request)
                guard (200..<300).contains(response.status.rawValue) else {
                    let message = "page \(count) was answered \(response.status)"
                    throw HTTPError(.badServerResponse, request: request, response: response, message: message)
                }
                do {
                    following = try await pages.next(response, request).map { .success($0) }
                } catch {
                    // The page itself is good; the error comes where the next one is asked for.
                    following = .failure(error)
                }
                return response
            }
        }
    }
}

extension HTTPLoader {
    /// The pages that begin with a request and go on by the link with `rel="next"` (RFC 8288).
    ///
    /// The next request has the fields of the first one; across origins its credentials are dropped, as a redirect
    /// drops them. A link from https to http throws ``HTTPError/Code/insecureRedirect``.
    ///
    /// - Parameters:
    ///   - request: the request for the first page.
    ///   - limit: the largest number of pages, beyond which the sequence throws
    ///     ``HTTPError/Code/httpTooManyRedirects``: a server may link in a circle. Defaults to 10,000.
    public func pages(from request: HTTPRequest, limit: Int = 10_000) -> HTTPResponse.Pages {
        HTTPResponse.Pages(loader: self, first: request, limit: limit) { response, request throws(HTTPError) in
            try NextPage.request(after: response, to: request)
        }
    }

    /// The pages that begin with a request, each of which says how to ask for the next one: by a cursor in its body.
    ///
    /// - Parameters:
    ///   - request: the request for the first page.
    ///   - limit: the largest number of pages. Defaults to 10,000.
    ///   - next: returns the request of the page after a response, or nil after the last one.
    public func pages(
        from request: HTTPRequest,
        limit: Int = 10_000,
        next: @escaping @Sendable (HTTPResponse) async throws -> HTTPRequest?
    ) -> HTTPResponse.Pages {
        HTTPResponse.Pages(loader: self, first: request, limit: limit) { response, _ in try await next(response) }
    }

    /// Loads a request; throws `CancellationError` where the calling task was cancelled.
    func responseUnlessCancelled(for request: HTTPRequest) async throws -> HTTPResponse {
        do {
            return try await response(for: request)
        } catch {
            if error.code == .cancelled, Task.isCancelled { throw CancellationError() }
            throw error
        }
    }
}

/// Where a page's `Link` field leads: a pure function of response and request.
private enum NextPage {
    /// The request of the next page, or nil where the page has no link to one.
    static func request(after response: HTTPResponse, to request: HTTPRequest) throws(HTTPError) -> HTTPRequest? {
        let links = LinkField.parse(fieldValues: response.headers[values: "Link"])
        guard let link = links.first(where: { $0.relations.contains("next") }) else { return nil }
        let base = response.request.url.scheme == nil ? request.url : response.request.url
        guard let url = RedirectTarget.resolve(link.target, against: base), let target = Origin(url) else {
            throw failure(.redirectToNonExistentLocation, "the link to the next page cannot be followed", response)
        }
        let origin = Origin(base)
        if origin?.scheme == "https", target.scheme != "https" {
            throw failure(.insecureRedirect, "the link to the next page would leave TLS", response)
        }
        var next = request
        next.url = url
        if request.method != .get, request.method != .head {
            // A link is dereferenced by GET (RFC 8288 §2), and fields that describe a body leave with it.
            next.method = .get
            next.body = .empty
            next.removeFieldsOfTheBody()
        }
        if target != origin {
            next.secretHeaders.formUnion(response.request.secretHeaders)
            next.dropCredentials()
        }
        return next
    }

    private static func failure(_ code: HTTPError.Code, _ message: String, _ response: HTTPResponse) -> HTTPError {
        HTTPError(code, request: response.request, response: response, message: message)
    }
}
