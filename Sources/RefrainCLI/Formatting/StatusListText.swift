internal import Refrain

/// Lists of statuses as they are written on the command line: `500,502-504`, or `+404` for "besides the usual ones".
struct StatusListText: Hashable {
    /// The statuses of the list.
    let statuses: Set<HTTPStatus>
    /// Whether they stand besides the usual ones, instead of in their place.
    let areAdded: Bool

    init(_ text: String, option: String) throws(UsageError) {
        areAdded = text.hasPrefix("+")
        var statuses: Set<HTTPStatus> = []
        for item in text.dropFirst(areAdded ? 1 : 0).split(separator: ",", omittingEmptySubsequences: false) {
            let ends = item.split(separator: "-", omittingEmptySubsequences: false).map { ASCIINumber.whole($0) }
            guard let first = ends.first, let low = first, let last = ends.last, let high = last, ends.count <= 2,
                (200...599).contains(low), (low...599).contains(high)
            else {
                throw .badValue(
                    String(item),
                    of: option,
                    "is neither a status from 200 to 599 nor a range of them such as 500-504"
                )
            }
            statuses.formUnion((low...high).map { HTTPStatus(rawValue: $0) })
        }
        self.statuses = statuses
    }
}
