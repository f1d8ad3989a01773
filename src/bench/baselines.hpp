// The other side of the comparison: what the same work costs without Skerry, on this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/subject.hpp"

namespace skerry::bench {

// The interpreters that sandboxes use, so that both sides run the same files. What is not given is left out.
struct Interpreters {
  std::optional<std::string> python;
  std::optional<std::string> node;
  std::optional<std::string> shell;
};

// Subjects that were tried once and gave the right answer, and the rest with the reason. What a subject needs (a
// container, a kernel) lives as long as the subject or a copy of it.
struct Baselines {
  std::vector<Subject> subjects;
  std::vector<LeftOut> left_out;
};

// Adds `more` behind what `all` has.
void Append(Baselines& all, Baselines more);

// All that is installed: bare programs, bwrap, srt, docker, ipykernel. Nothing is downloaded.
Baselines FindBaselines(const Interpreters& interpreters);

}  // namespace skerry::bench
