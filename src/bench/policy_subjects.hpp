// How long it takes to assess code, compared with the time that the language's own parser takes for the same text.
#pragma once

#include "bench/baselines.hpp"

namespace skerry::bench {

// The subjects of the groups whose name begins with "policy-": RiskPolicy::Assess as `skerry`, and the parser of each
// interpreter that is installed and accepts the text. A Python and a Node that live as long as the subjects time
// themselves; for bash the whole `bash -n` is timed, since there is no other way.
Baselines FindPolicySubjects(const Interpreters& interpreters);

}  // namespace skerry::bench
