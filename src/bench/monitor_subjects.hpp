// What it costs to watch sandboxes: one look at two hundred of them, beside one second of one core.
#pragma once

#include "bench/baselines.hpp"
#include "core/backend.hpp"

namespace skerry::bench {

// The group "monitor". The sandboxes are made with the first look and are gone with the subjects. `backend` outlives
// them.
Baselines MonitorSubjects(core::Backend& backend);

}  // namespace skerry::bench
