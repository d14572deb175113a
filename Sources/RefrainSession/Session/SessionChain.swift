/// The order in which a session's requests go through their stages, and the reason for each place.
///
/// This is the one readable place for it. A session adds these stages before the loader that it is given, which is a
/// transport or a chain of its own.
enum SessionChain {
    static func make(_ settings: Session.Settings, before loader: any HTTPLoader) -> any HTTPLoader {
        // 8. Next to the transport: counts bytes, and holds streams while a request is suspended.
        let watched: any HTTPLoader = Delivery() --> loader
        // 7. Just inside the throttle's slot: each part of a resumed download is an exchange like any other.
        //    Requests that neither of the two has anything to do for go round them.
        var (whole, short): (any HTTPLoader, any HTTPLoader) = (Resume(clocks: settings.clocks) --> watched, loader)
        // 6. After adapting: a refresh of credentials waits for its answer without holding a slot, and so cannot
        //    deadlock behind its own caller. Inside of Retry: the slot is free during back-off.
        if let throttle = settings.throttle { (whole, short) = (throttle --> whole, throttle --> short) }
        //    Whether a request goes round 7 and 8 is found out before it waits for its slot.
        // 5. Inside of Retry: each try is adapted and authenticated anew, from the original request (rule R6).
        //    The session's adapters run first, then the request's.
        // 4. In the same step, once there is an answer: checks see each try's response, so that retriers hear of it.
        var chain: any HTTPLoader = Trial(whole: whole, short: short, clocks: settings.clocks)
        // 3. The one retry stage. It asks the retriers; nothing above or below it tries again.
        chain =
            Retry(
                RetrierStrategy(),
                budgets: settings.budgets,
                clocks: settings.clocks,
                random: settings.random
            ) --> chain
        // 2. Outside of Retry: each hop has tries of its own, and a POST answered by a 303 is not posted again.
        chain = Redirect(clocks: settings.clocks) --> chain
        // 1. Outside of all that tries and follows: those who share an exchange share its outcome.
        //    The first of them may leave before the exchange is over, which keeps it, to ask its checks and retriers.
        if let deduplicate = settings.deduplicate { chain = deduplicate --> chain }
        // 0. Outermost: a reset refuses what is new, cancels what is under way, and awaits it.
        return ResetGuard(runsInOwnersTask: true) --> chain
    }
}
