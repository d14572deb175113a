/// The head of a chain that can be reset: no request passes while the rest is on its way back to the beginning.
///
/// ```swift
/// let throttle = try Throttle(maximumNumberOfRequests: 4)
/// let loader = ResetGuard() --> Retry(RetryPolicy.recommended) --> throttle --> CurlLoader()
/// await loader.reset()      // as when a user logs out
/// ```
///
/// A reset closes the door, cancels every request behind it, resets the stages that follow, waits until all those
/// requests have returned with ``HTTPError/Code/cancelled``, and opens again. A request that comes in the meantime
/// fails at once with ``HTTPError/Code/resetInProgress``. Resets that overlap are one.
///
/// A stage in the chain may itself ask for a reset: it then does not wait for the end of it, since its own request is
/// one of those that must return first. One guard belongs to one chain. The idea is from "HTTP in Swift".
public struct ResetGuard: HTTPMiddleware {
    private let flights = Flights(.closesForResets)
    private let runsInOwnersTask: Bool

    /// Makes the stage.
    public init() { runsInOwnersTask = false }

    /// Makes the stage for the head of a chain whose requests have owners and are loaded in tasks of these: a reset has
    /// the owner cancel its task, and no second task is needed to be cancelled.
    package init(runsInOwnersTask: Bool) { self.runsInOwnersTask = runsInOwnersTask }

    /// The number of requests that are under way behind the guard.
    public var numberOfRequests: Int { flights.count }

    /// Lets a request through, unless a reset is going on.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        if runsInOwnersTask, let caller = request.owner?.caller {
            return await flights.load(request, of: caller, next: next)
        }
        return await flights.load(request, next: next)
    }

    /// Cancels every request behind the guard, and waits until they have returned.
    public func reset() async { await flights.reset(next: nil) }

    /// Cancels every request behind the guard, resets what follows, and lets nothing in until that is done.
    public func reset(next: any HTTPLoader) async { await flights.reset(next: next) }
}

extension ResetGuard {
    /// The place of a request among those behind the guard.
    package struct Place {
        fileprivate let place: Flights.Place
    }

    /// Whether the present code runs within a request of this chain or another one.
    package static var isWithinRequest: Bool { FlightList.isInside }

    /// Whether the present code runs within a request of this chain.
    package var isAroundPresentCode: Bool { flights.areAroundPresentCode }

    /// Lets a request through that runs in no task as yet; nil while a reset is going on.
    ///
    /// Its caller is asked to cancel it for a reset, which waits until the request has left.
    package func enter(for caller: any Caller) -> Place? { flights.enter(for: caller).map(Place.init) }

    /// Notes that a request has returned.
    package func leave(_ place: Place) { flights.leave(place.place) }

    /// What becomes of a request that is not let through.
    package func refusal(of request: HTTPRequest) -> HTTPResult { Flights.refused(request) }

    /// Begins what is left to do for a request that was let through: a task that is made here belongs to the request.
    ///
    /// To nothing else: the present code may run for another request, which has brought the answer of this one.
    package func within<Result>(_ place: Place, _ begin: () -> Result) -> Result {
        RetryNesting.outside {
            FlightList.$current.withValue(FlightList(flights, place.place.number, nil), operation: begin)
        }
    }
}
