/// The media types of files by extension (IANA's registry), for the parts of forms.
enum FileMediaType {
    /// The media type of an extension in any case; `application/octet-stream` if it is not one of the common ones.
    static func of(extension name: String) -> String { types[name.lowercased()] ?? "application/octet-stream" }

    private static let types = table()

    @_optimize(none)
    private static func table() -> [String: String] {
        [
            "aac": "audio/aac", "avif": "image/avif", "bmp": "image/bmp", "css": "text/css", "csv": "text/csv",
            "doc": "application/msword",
            "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic", "htm": "text/html", "html": "text/html",
            "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
            "json": "application/json", "m4a": "audio/mp4", "md": "text/markdown", "mov": "video/quicktime",
            "mp3": "audio/mpeg", "mp4": "video/mp4", "ogg": "audio/ogg", "pdf": "application/pdf", "png": "image/png",
            "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff",
            "tiff": "image/tiff", "txt": "text/plain", "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp",
            "xls": "application/vnd.ms-excel",
            "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "xml": "application/xml", "zip": "application/zip",
        ]
    }
}
