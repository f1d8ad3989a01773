// A program that becomes a subject when a trial run succeeds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/baselines.hpp"
#include "bench/command.hpp"

namespace skerry::bench {

struct Candidate {
  std::string group;
  std::string name;
  Command command;
  std::shared_ptr<const void> keep = nullptr;  // held by the subject as long as that lives
};

// Adds the subject, or the reason why it does not give the answer of the group's workload.
void AddCandidate(Baselines& baselines, const Candidate& candidate);

void LeaveOut(Baselines& baselines, const std::string& name, const std::vector<std::string>& groups,
              const std::string& reason);

// Each adds the baselines that it finds.
void AddDockerBaselines(Baselines& baselines, const Interpreters& interpreters);
void AddIpykernelBaseline(Baselines& baselines, const Interpreters& interpreters);

}  // namespace skerry::bench
