// How long it takes to assess code, beside the time that the language's own parser takes to read the same text.
#pragma once

#include "bench/baselines.hpp"

namespace skerry::bench {

// The subjects of the groups whose name begins with "policy-": RiskPolicy::Assess as `skerry`, and as far as the
// interpreter is installed and accepts the text, its parser. A Python and a Node that live as long as the subjects time
// themselves; of bash the whole `bash -n` is timed, for want of another way to ask it.
Baselines FindPolicySubjects(const Interpreters& interpreters);

}  // namespace skerry::bench
