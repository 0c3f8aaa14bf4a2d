#pragma once
// What this machine's devices draw, idle and busy, by its own counters: for the policy `energy` where --watts is not given.
#include "runtime/graph/session.hpp"
#include "runtime/observe/energy.hpp"
#include "runtime/system/power.hpp"

#include <functional>

namespace quarkstar::app {

/// How to read the counters, and how to keep devices busy; each call returns the seconds that passed.
struct PowerProbe {
  std::function<runtime::Energy()> read;
  std::function<double()> rest, load_cpus, load_gpus;
  int gpus = 0;
};

/// Watts while nothing runs and while one kind of device works, where the counters tell; the rest is left as in `known`. Where CPUs are
/// measured the host's own watts become 0: what packages and memory draw is in theirs. origin: "measured", or which part was.
runtime::MachinePower measure_power(const runtime::MachinePower& known, const PowerProbe& probe);

/// Gives a session that schedules by watts the measured ones, from triads on all CPU workers and on the GPUs one after the other, half a
/// second each. Nothing is done under another policy, where watts were given, and on several ranks. No task may run.
void provide_power(runtime::Session& session);

}  // namespace quarkstar::app
