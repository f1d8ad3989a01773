#include "engine/warm_sandboxes.hpp"

#include "interpreters/worker.hpp"

namespace skerry::engine {
namespace {

constexpr std::chrono::minutes kStartPatience{1};

}  // namespace

bool WarmSandboxes::Fits(const core::SandboxSpec& spec) const {
  return spec.workspace == nullptr && spec.binds.empty() && spec.hidden.empty() && !spec.root && spec.image.empty() &&
         spec.network == spec_.network && spec.ports.empty() && spec.limits == spec_.limits &&
         spec.demand == spec_.demand;
}

Pool<core::Sandbox>& WarmSandboxes::PoolOf(core::Preload kind) {
  const std::scoped_lock lock(mutex_);
  auto& pool = pools_.at(static_cast<std::size_t>(kind));
  if (pool == nullptr) {
    core::SandboxSpec spec = spec_;
    spec.preload = kind;
    const auto make = [this, spec]() -> base::Result<std::unique_ptr<core::Sandbox>> {
      SKERRY_ASSIGN_OR_RETURN(auto sandbox, backend_.Create(spec));
      SKERRY_RETURN_IF_ERROR(sandbox->Start(base::Deadline::After(kStartPatience), {}));
      return sandbox;
    };
    const auto usable = [](const core::Sandbox& sandbox) { return sandbox.IsRunning(); };
    pool = std::make_unique<Pool<core::Sandbox>>(options_, Pool<core::Sandbox>::Hooks{make, usable, {}});
  }
  return *pool;
}

std::optional<WarmSandboxes::Lease> WarmSandboxes::Take(core::Preload kind) {
  return PoolOf(kind).TryAcquireWarm(std::to_string(next_use_++));
}

void WarmSandboxes::AwaitWarm(core::Preload kind, base::Deadline deadline) {
  PoolOf(kind).AwaitWarm(deadline);
}

std::vector<WarmSandboxes::KindStatistics> WarmSandboxes::Statistics() const {
  const std::scoped_lock lock(mutex_);
  std::vector<KindStatistics> all;
  for (std::size_t at = 0; at < pools_.size(); ++at)
    if (pools_.at(at) != nullptr) all.push_back({static_cast<core::Preload>(at), pools_.at(at)->Statistics()});
  return all;
}

core::Preload PreloadFor(const core::Code& code) {
  switch (code.language) {
    case core::Language::kPython:
      return interpreters::UsesDataModules(code.text) ? core::Preload::kPythonData : core::Preload::kPython;
    case core::Language::kJavaScript:
      return core::Preload::kJavaScript;
    case core::Language::kShell:
      return core::Preload::kShell;
  }
  return core::Preload::kNone;
}

}  // namespace skerry::engine
