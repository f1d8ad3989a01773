// The first form of a run's end: the JSON of the API, as daemons wrote it until the store had a form of its own.
#pragma once

#include "core/run_end.hpp"
#include "store/form_fields.hpp"

namespace skerry::store {

core::RunEnd DecodeEndV1(core::RunState state, const Form& form);

}  // namespace skerry::store
