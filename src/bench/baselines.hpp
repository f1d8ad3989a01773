// The other side of the comparison: the cost of the same work without Skerry, on this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/subject.hpp"

namespace skerry::bench {

// The interpreters that sandboxes use, so that both sides run the same files. Subjects of a missing interpreter are
// left out.
struct Interpreters {
  std::optional<std::string> python;
  std::optional<std::string> node;
  std::optional<std::string> shell;
};

// The subjects that were tried once and gave the right answer, and the others with the reason. A container or a kernel
// that a subject needs lives as long as the subject or a copy of it.
struct Baselines {
  std::vector<Subject> subjects;
  std::vector<LeftOut> left_out;
};

// Adds `more` to the end of `all`.
void Append(Baselines& all, Baselines more);

// The baselines for all programs that are installed: bare interpreters, bwrap, srt, docker, ipykernel. Nothing is
// downloaded.
Baselines FindBaselines(const Interpreters& interpreters);

}  // namespace skerry::bench
