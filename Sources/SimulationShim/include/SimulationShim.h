// SPDX-License-Identifier: Apache-2.0
#ifndef REFRAIN_SIMULATION_SHIM_H
#define REFRAIN_SIMULATION_SHIM_H

#include <stdbool.h>
#include <stdint.h>

/// Receives a job that was enqueued on the global executor by the thread of a simulation.
typedef void (*refrain_simulation_receiver)(void *_Nonnull simulation, void *_Nonnull job);

/// What a simulation's thread runs, and what watches it.
///
/// The functions are called with `context`; `simulation` is what `refrain_simulation_current` returns on the thread.
/// `body` runs on the simulation's thread, the others on the one that watches it: `stalled` at most once, while `body`
/// runs, and `finished` last.
typedef struct {
    void *_Nonnull simulation;
    void *_Nonnull context;
    void (*_Nonnull body)(void *_Nonnull context);
    /// A number that changes whenever virtual time moves.
    int64_t (*_Nonnull progress)(void *_Nonnull context);
    void (*_Nonnull stalled)(void *_Nonnull context);
    void (*_Nonnull finished)(void *_Nonnull context);
    /// The CPU time, in nanoseconds, after which a simulation without progress counts as stalled.
    int64_t cpu_limit;
    /// The same in time that passes, for a thread that is blocked.
    int64_t wall_limit;
} refrain_simulation_thread;

/// Sets the function that receives jobs, and takes over the runtime's hook for the global executor.
///
/// Outside of the threads of simulations the hook changes nothing. Only the first call has an effect.
void refrain_simulation_install(refrain_simulation_receiver _Nonnull receiver);

/// Runs a simulation on a thread of its own, and returns at once; false where no thread could be made.
bool refrain_simulation_start(const refrain_simulation_thread *_Nonnull thread);

/// The simulation that the present thread belongs to, or null.
void *_Nullable refrain_simulation_current(void);

/// The CPU time of the present thread in nanoseconds.
int64_t refrain_simulation_cpu_time(void);

/// Waits, on a simulation's thread, for `nanoseconds` of time that passes.
void refrain_simulation_pause(int64_t nanoseconds);

#endif
