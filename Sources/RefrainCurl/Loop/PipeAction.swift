internal import CurlShim

/// Calls libcurl where it may change what the process does at SIGPIPE, and restores that.
///
/// Between the two another thread's write to a broken pipe can end the process, which only another version prevents.
@discardableResult
func keepingPipeAction<Result>(_ body: () -> Result) -> Result {
    guard CurlVersion.resetsPipeAction else { return body() }
    refrain_hold_pipe_action()
    defer { refrain_restore_pipe_action() }
    return body()
}
