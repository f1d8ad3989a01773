#include "runner/launch_request.hpp"

#include <algorithm>

namespace skerry::runner {
namespace {

constexpr std::uint64_t kMegabyte = 1U << 20U;

launcher::WorkspaceKind KindOf(const core::SandboxSpec& spec, launcher::Isolation isolation) {
  if (spec.workspace == nullptr) return launcher::WorkspaceKind::kEmpty;
  const bool apart =
      isolation == launcher::Isolation::kNamespaces && spec.workspace_changes == core::WorkspaceChanges::kApart;
  return apart ? launcher::WorkspaceKind::kLayered : launcher::WorkspaceKind::kDirect;
}

// The layer lies in memory, which counts towards the memory limit: it gets half of that at most, so that a full disk
// shows as a full disk and not as the end of the program.
std::uint64_t DiskBytes(const core::SandboxLimits& limits) {
  return std::min(limits.disk_mb, std::max<std::uint64_t>(limits.memory_mb / 2, 1)) * kMegabyte;
}

void SetLimits(launcher::StartRequest& request, const core::SandboxLimits& limits) {
  request.memory_bytes = limits.memory_mb * kMegabyte;
  request.pids = limits.pids;
  request.cpu_percent = limits.cpu_percent;
  request.open_files = limits.open_files;
  request.file_bytes = limits.file_mb * kMegabyte;
  request.tmp_bytes = limits.tmp_mb * kMegabyte;
  request.disk_bytes = DiskBytes(limits);
  request.disk_inodes = limits.disk_files;
}

}  // namespace

LaunchRequest LaunchRequestFor(const LaunchProfile& profile, const core::SandboxSpec& spec) {
  LaunchRequest launch;
  launcher::StartRequest& request = launch.request;
  request.isolation = profile.isolation;
  request.workspace = KindOf(spec, profile.isolation);
  if (spec.workspace) request.workspace_path = spec.workspace->path;
  request.workspace_owner = spec.workspace_owner == core::WorkspaceOwner::kSkerry ? launcher::WorkspaceOwner::kSkerry
                                                                                  : launcher::WorkspaceOwner::kPerson;
  if (spec.workspace) launch.fds.push_back(spec.workspace->fd.get());
  if (spec.root) {
    request.root_path = spec.root->directory->path;
    launch.fds.push_back(spec.root->directory->fd.get());
  }
  for (const core::HostBind& bind : spec.binds) {
    request.binds.push_back(
        {bind.source->path, bind.target,
         bind.access == core::BindAccess::kReadOnly ? os::Access::kReadOnly : os::Access::kReadWrite});
    launch.fds.push_back(bind.source->fd.get());
  }
  request.hidden = spec.hidden;
  request.scratch_path = profile.scratch;
  request.pretend_missing = profile.pretend_missing;
  request.demand =
      spec.demand == core::Demand::kEverything ? launcher::Demand::kEverything : launcher::Demand::kWhatIsPossible;
  SetLimits(request, spec.limits);
  return launch;
}

}  // namespace skerry::runner
