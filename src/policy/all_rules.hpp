// Every rule that a finding can name.
#pragma once

#include <vector>

#include "policy/rule.hpp"

namespace skerry::policy {

// By name, each once: the gravest where a rule has several levels.
std::vector<Rule> AllRules();

}  // namespace skerry::policy
