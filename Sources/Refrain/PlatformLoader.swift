#if canImport(Darwin)
/// The transport of the platform: `URLSessionLoader` on Apple platforms, `CurlLoader` on Linux.
///
/// ```swift
/// let loader = Redirect() --> Retry(.recommended) --> PlatformLoader()
/// ```
public typealias PlatformLoader = URLSessionLoader
#else
/// The transport of the platform: `URLSessionLoader` on Apple platforms, `CurlLoader` on Linux.
///
/// ```swift
/// let loader = Redirect() --> Retry(.recommended) --> PlatformLoader()
/// ```
public typealias PlatformLoader = CurlLoader
#endif
