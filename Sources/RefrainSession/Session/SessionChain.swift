/// The order in which a session's requests go through their stages, and the reason for each place.
///
/// This is the one readable place for it. A session adds these stages before the loader that it is given, which is a
/// transport or a chain of its own.
final class SessionChain: Sendable {
    /// All stages before the loader.
    let whole: any HTTPLoader
    /// The transport that requests may be handed to without a task, where no optional stage stands before it.
    let prompt: (any PromptLoader)?

    // What ``FirstTry`` takes a request through.
    let door: ResetGuard
    let redirect: Redirect
    let retry: Retry
    let trial: Trial
    /// Everything within `redirect`.
    let tries: any HTTPLoader

    init(_ settings: Session.Settings, before loader: any HTTPLoader) {
        // 8. Next to the transport: counts bytes, and holds streams while a request is suspended.
        let watched: any HTTPLoader = Delivery() --> loader
        // 7. Just inside the throttle's slot: each part of a resumed download is an exchange like any other.
        //    Requests that neither of the two has anything to do for go round them.
        var (long, short): (any HTTPLoader, any HTTPLoader) = (Resume(clocks: settings.clocks) --> watched, loader)
        // 6. After adapting: a refresh of credentials waits for its answer without holding a slot, and so cannot
        //    deadlock behind its own caller. Inside of Retry: the slot is free during back-off.
        if let throttle = settings.throttle { (long, short) = (throttle --> long, throttle --> short) }
        //    Whether a request goes round 7 and 8 is found out before it waits for its slot.
        // 5. Inside of Retry: each try is adapted and authenticated anew, from the original request (rule R6).
        //    The session's adapters run first, then the request's.
        // 4. In the same step, once there is an answer: checks see each try's response, so that retriers hear of it.
        trial = Trial(whole: long, short: short, clocks: settings.clocks)
        // 3. The one retry stage. It asks the retriers; nothing above or below it tries again.
        retry = Retry(
            RetrierStrategy(),
            budgets: settings.budgets,
            clocks: settings.clocks,
            random: settings.random
        )
        tries = retry --> trial
        // 2. Outside of Retry: each hop has tries of its own, and a POST answered by a 303 is not posted again.
        redirect = Redirect(clocks: settings.clocks)
        var chain: any HTTPLoader = redirect --> tries
        // 1. Outside of all that tries and follows: those who share an exchange share its outcome.
        //    The first of them may leave before the exchange is over, which keeps it, to ask its checks and retriers.
        //    Requests that adapters change further in go round it.
        if let deduplicate = settings.deduplicate { chain = Sharing(stage: deduplicate) --> chain }
        // 0. Outermost: a reset refuses what is new, cancels what is under way, and awaits it.
        door = ResetGuard(runsInOwnersTask: true)
        whole = door --> chain
        // A request that has to wait for nothing but its answer goes through 0, 2, 3, 4 and 5 without a task: see
        // `FirstTry`, which keeps to this order.
        let waitsBefore = settings.throttle != nil || settings.deduplicate != nil
        prompt = waitsBefore ? nil : loader as? any PromptLoader
    }
}
