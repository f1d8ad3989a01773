// Sandboxes that nobody has asked for yet: namespaces, root, network and cgroup are there and wait for what is special
// about a request. They make every start faster that fits the template of the root, also with a person's workspace.
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
  // From now on some are kept. Before that there are none: who makes one sandbox only has no use for them.
  void Keep();

  // One that waits and that this request can have.
  std::optional<SandboxProcess> Take(const StartRequest& request, MachineFacts& machine);

  // When Refill wants to be called: a little after one was taken, so as not to compete with whoever took it.
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
