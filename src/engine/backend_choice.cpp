#include "engine/backend_choice.hpp"

#include <unistd.h>

#include <algorithm>

namespace skerry::engine {

// Backends are preferred in the order in which they were registered.
core::Backend* BackendChoice::Preferred() const {
  const auto all = registry_.All();
  if (const auto named = registry_.Find(options_.default_backend);
      named && policy::Allows(options_.mode, (*named)->Can().strength))
    return *named;
  const auto isolates = [](const core::Backend* one) { return one->Can().strength >= core::Strength::kNamespaces; };
  if (const auto found = std::ranges::find_if(all, isolates); found != all.end()) return *found;
  return options_.mode == policy::SecurityMode::kPermissive && !all.empty() ? all.front() : nullptr;
}

base::Result<core::Backend*> BackendChoice::Named(const std::string& sandbox_type) const {
  const bool is_auto = sandbox_type == core::kAutoSandbox;
  const std::string& name = is_auto ? options_.default_backend : sandbox_type;
  if (!is_auto || !name.empty()) {
    SKERRY_ASSIGN_OR_RETURN(core::Backend * named, registry_.Find(name));
    if (policy::Allows(options_.mode, named->Can().strength)) return named;
  }
  // S1.4: a request that names a weaker sandbox than the mode demands gets the stronger one.
  if (core::Backend* preferred = Preferred()) return preferred;
  return base::Err(base::Code::kUnavailable, "no sandbox here isolates as the strict mode demands");
}

core::Backend* BackendChoice::Lightest() const {
  core::Backend* lightest = nullptr;
  for (core::Backend* candidate : registry_.All()) {
    const core::Strength strength = candidate->Can().strength;
    if (strength >= core::Strength::kNamespaces) continue;
    if (lightest == nullptr || strength < lightest->Can().strength) lightest = candidate;
  }
  return lightest;
}

std::string BackendChoice::Advice(const std::function<bool(const core::Abilities&)>& can) const {
  for (const core::Backend* candidate : registry_.All())
    if (policy::Allows(options_.mode, candidate->Can().strength) && can(candidate->Can()))
      return "; use the " + std::string(candidate->Name()) + " one";
  return "";
}

base::Result<core::Backend*> BackendChoice::For(const core::ExecutionRequest& request, const RunStreams& streams,
                                                const RunOccasion& occasion, const core::RiskAssessment& risk) const {
  core::Backend* const light = Lightest();
  if (options_.sandboxing == Sandboxing::kDisabled) {
    if (light != nullptr) return light;
    return base::Err(base::Code::kUnsupportedBackend, "no sandbox here runs programs without isolation");
  }
  const FilesystemOptions& files = options_.filesystem;
  // Without namespaces nothing separates the program from the workspace's owner, and that must not be root.
  const bool own_session = occasion.session != nullptr && ::geteuid() == 0;
  const bool plain = !own_session && !request.image && !streams.terminal && options_.limits.cpu_percent == 0 &&
                     files.allow_read.empty() && files.deny_read.empty() && files.allow_write.empty() &&
                     files.deny_write.empty();
  const bool follow = options_.mode == policy::SecurityMode::kPermissive &&
                      request.sandbox_type == core::kAutoSandbox && !risk.requires_isolation && plain;
  if (follow && light != nullptr) return light;
  return Named(request.sandbox_type);
}

base::Status BackendChoice::Check(const core::ExecutionRequest& request, const RunStreams& streams,
                                  const RunWorkspace& workspace, std::string_view backend,
                                  const core::Abilities& abilities) const {
  const auto refuse = [&](const std::string& what, const std::function<bool(const core::Abilities&)>& can) {
    return base::Err(base::Code::kUnavailable, "the " + std::string(backend) + " sandbox " + what + Advice(can));
  };
  if (!abilities.binds && !workspace.rules().Empty())
    return refuse("cannot keep the filesystem settings (denyRead, denyWrite, allowRead, allowWrite)",
                  [](const core::Abilities& other) { return other.binds; });
  const bool in_place = abilities.workspace == core::WorkspaceKind::kInPlace && !workspace.IsCopiedFor(abilities);
  if (request.carry == core::Carry::kShow && in_place)
    return refuse("writes to the directory itself, so there is no dry run",
                  [](const core::Abilities& other) { return other.workspace != core::WorkspaceKind::kInPlace; });
  if (streams.terminal && !abilities.terminals)
    return refuse("has no terminals", [](const core::Abilities& other) { return other.terminals; });
  return {};
}

}  // namespace skerry::engine
