// Sandboxes that no client has asked for yet: namespaces, root, network and cgroup are there and wait for what is
// special about a request. They speed up every start that fits the template of the root, also with a person's
// workspace.
#pragma once

#include <deque>
#include <optional>

#include "base/deadline.hpp"
#include "launcher/machine_facts.hpp"
#include "launcher/protocol.hpp"
#include "launcher/sandbox_process.hpp"

namespace skerry::launcher {

class Vacancies {
 public:
  // From now on some sandboxes are kept ahead. Before that there are none: a client that makes one sandbox only has no
  // use for them.
  void Keep();

  // A waiting sandbox that fits the request; nothing when there is none.
  std::optional<SandboxProcess> Take(const StartRequest& request, MachineFacts& machine);

  // When Refill has to be called: a little after a sandbox was taken, so as not to compete with the client that took
  // it.
  [[nodiscard]] base::Deadline NextTime() const { return next_; }
  void Refill(int init_program, MachineFacts& machine);

 private:
  struct Vacancy {
    SandboxProcess sandbox;
    unsigned template_number;
  };

  std::deque<Vacancy> stock_;
  os::CgroupLimits likely_;  // as the last request had them
  base::Deadline next_ = base::Deadline::Never();
  bool kept_ = false;
};

}  // namespace skerry::launcher
