#include "launcher/furnishing.hpp"

#include <unistd.h>

#include <cerrno>
#include <vector>

#include "launcher/child_report.hpp"
#include "launcher/machine_facts.hpp"
#include "launcher/mount_plan.hpp"
#include "launcher/wire.hpp"
#include "os/socket.hpp"

namespace skerry::launcher {

std::string Encode(const Furnishing& furnishing) {
  return WireWriter().Text(Encode(ToLauncher{furnishing.request})).Text(Encode(furnishing.fence)).Take();
}

std::optional<Furnishing> DecodeFurnishing(std::string_view bytes) {
  WireReader reader(bytes);
  const std::string_view request = reader.Text();
  const std::string_view fence = reader.Text();
  if (!reader.Complete()) return std::nullopt;
  auto decoded = DecodeToLauncher(request);
  const auto order = DecodeForkOrder(fence);
  if (!decoded || !order || !std::holds_alternative<StartRequest>(*decoded)) return std::nullopt;
  return Furnishing{std::get<StartRequest>(std::move(*decoded)), *order};
}

void AwaitFurnishing(ChildPlan& plan) {
  auto message = os::ReceiveMessage(plan.report, base::Deadline::Never());
  if (!message || message->EndOfStream()) ::_exit(0);  // the launcher does not need this sandbox
  const auto furnishing = DecodeFurnishing(message->bytes);
  if (!furnishing) Fail(plan, EBADMSG, "read what was asked for");
  // Static, since the plan refers to them until exec.
  static std::vector<MountStep> mounts;
  static std::vector<HostTree> trees;
  static std::vector<os::LandlockRule> rules;
  mounts = PlanFurnishing(furnishing->request);
  for (base::UniqueFd& fd : message->fds) trees.push_back({.tree = fd.Release()});
  rules.assign(NamespaceRules().begin(), NamespaceRules().end());
  rules.push_back({.fd = plan.init, .grant = os::LandlockGrant::kReadAndExecute});
  plan.mounts = mounts;
  plan.trees = trees;
  plan.fence = {Isolation::kNamespaces, furnishing->fence.limits, furnishing->fence.landlock_abi, rules,
                plan.vacant->Filter(furnishing->fence.filter)};
}

}  // namespace skerry::launcher
