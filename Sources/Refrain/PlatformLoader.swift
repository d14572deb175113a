/// The transport of the platform: `URLSessionLoader` on Apple platforms, `CurlLoader` on Linux.
///
/// ```swift
/// let loader = Redirect() --> Retry(.recommended) --> PlatformLoader()
/// ```
#if canImport(Darwin)
public typealias PlatformLoader = URLSessionLoader
#else
public typealias PlatformLoader = CurlLoader
#endif
