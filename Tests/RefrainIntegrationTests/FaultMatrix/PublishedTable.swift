// SPDX-License-Identifier: Apache-2.0
/// The matrix as the documentation shows it.
enum PublishedTable {
    static func page(_ table: MatrixTable) -> String {
        """
        # The fault matrix

        Every fault that the fault server knows, met by every kind of request, on a new connection and on one that has
        served a request before: \(table.faults.count) faults, \(table.cells.count) cells. The table is written by hand
        from the [rules](Rules.md). A test meets each cell over real sockets, through
        `Redirect() --> Retry(RetryPolicy.recommended) --> Resume() --> CurlLoader()` with three attempts, and compares
        the outcome, what the server has counted, what is on record and the reason. Another test keeps this page in
        step.

        - **Request**: `GET`, `PUT`, `upload` (PUT of a stream that can be started again), `download` (GET into a file,
          resumable), `POST`, `keyed POST` (with an idempotency key), `one-shot POST` (its body can be read once).
          *Idempotent* are the first four, *repeatable* are these and `keyed POST`.
        - **Connection**: `reused` has served a request before. Where a server fails all connections, another server has
          served that request, on the same port.
        - **Outcome**: a status, or the code of the error. `CODE` is the status in the path.
        - **Sends**: the attempts on record; the server has read as many requests. A second number, in brackets, is what
          the server has read where that can be less, because it refuses connections or does not read.
        - **Reason**: why there was no further attempt, from the last line of the record. Where the wire decides a race,
          each end that the rules allow is listed.
        - **Rules**: what the row follows from; every rule on the last line of the record is among them.

        \(ExpectedTable.text)

        ## Over AsyncHTTPClient

        The same cells over `AsyncHTTPClientLoader`, whose client has one connection to an origin, a limit of one second
        to connect, and neither redirects nor further attempts of its own. Every cell ends within its limits, and as
        above, but for these lines:

        \(Deviations.text)

        ## Faults of other servers

        What the fault server cannot show, each with the section that its outcome follows from, and the test that meets
        it over sockets, or where it would be sent or shown.

        \(WireFault.table)

        """
    }
}
