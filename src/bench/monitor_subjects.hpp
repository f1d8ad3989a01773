// The cost of watching sandboxes: one look at two hundred of them, compared with one second of one core.
#pragma once

#include "bench/baselines.hpp"
#include "core/backend.hpp"

namespace skerry::bench {

// The group "monitor". The sandboxes are made at the first look and removed with the subjects. `backend` outlives the
// subjects.
Baselines MonitorSubjects(core::Backend& backend);

}  // namespace skerry::bench
