#include "bench/monitor_subjects.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_time.hpp"
#include "engine/monitor.hpp"
#include "engine/watched.hpp"

namespace skerry::bench {
namespace {

constexpr std::size_t kSandboxes = 200;

// Sandboxes with a shell waiting in each, and a monitor that looks on demand only.
class Crowd {
 public:
  explicit Crowd(core::Backend& backend) : backend_(backend) {}

  base::Status Gather() {
    while (sandboxes_.size() < kSandboxes) {
      SKERRY_ASSIGN_OR_RETURN(auto sandbox, backend_.Create({.preload = core::Preload::kShell}));
      SKERRY_RETURN_IF_ERROR(sandbox->Start(base::Deadline::Never(), {}));
      registrations_.push_back(watched_.Enter({.session = "s" + std::to_string(sandboxes_.size()),
                                               .since = std::chrono::system_clock::now(),
                                               .sandbox = sandbox.get()}));
      sandboxes_.push_back(std::move(sandbox));
    }
    return {};
  }

  base::Result<Sample> Look() {
    SKERRY_RETURN_IF_ERROR(Gather());
    const Duration began = base::ThreadTime();
    monitor_.LookNow();
    const Duration took = base::ThreadTime() - began;
    if (const auto seen = monitor_.All(1).size(); seen != kSandboxes)
      return base::Err(base::Code::kInternal, "only " + std::to_string(seen) + " sandboxes could be looked at");
    return Sample{.total = took, .steps = {}};
  }

 private:
  core::Backend& backend_;
  std::vector<std::unique_ptr<core::Sandbox>> sandboxes_;
  engine::Watched watched_;
  std::vector<engine::Watched::Registration> registrations_;  // destroyed before the sandboxes
  engine::Monitor monitor_{watched_, {.interval = std::chrono::hours(1)}, {}};
};

}  // namespace

Baselines MonitorSubjects(core::Backend& backend) {
  Baselines all;
  const auto crowd = std::make_shared<Crowd>(backend);
  all.subjects.push_back({.group = "monitor",
                          .name = "skerry",
                          .detail = "processor time of one look at 200 sandboxes, as there is one each second",
                          .run = [crowd] { return crowd->Look(); },
                          .settle = {},
                          .target = {}});
  all.subjects.push_back(
      {.group = "monitor",
       .name = "one core",
       .detail = "a second of one core, by definition",
       .run = []() -> base::Result<Sample> { return Sample{.total = std::chrono::seconds(1), .steps = {}}; },
       .settle = {},
       .target = {}});
  return all;
}

}  // namespace skerry::bench
