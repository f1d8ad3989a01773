#include "engine/environments.hpp"

#include <string_view>

#include "policy/folded_name.hpp"
#include "workspace/beneath.hpp"
#include "workspace/mount_border.hpp"

namespace skerry::engine {
namespace {

using workspace::ChangeKind;
using workspace::JoinPath;
using workspace::NameOf;
using workspace::ParentOf;

constexpr std::string_view kMark = "pyvenv.cfg";
constexpr const char* kReason = "program of an environment that was there before";

bool Exists(int root, const std::string& path) {
  workspace::Facts facts{};
  return workspace::FactsAt(root, path.empty() ? "." : path.c_str(), facts);
}

bool IsDirectory(int root, const std::string& path) {
  workspace::Facts facts{};
  return workspace::FactsAt(root, path.c_str(), facts) && workspace::IsDirectory(facts);
}

bool HoldsPrograms(std::string_view name) {
  const std::string folded = policy::FoldName(name);
  return folded == "bin" || folded == "scripts";
}

}  // namespace

bool Environments::WasThere(std::string_view directory) {
  const auto found = were_there_.find(directory);
  if (found != were_there_.end()) return found->second;
  return were_there_.emplace(directory, Exists(lower_, JoinPath(directory, kMark))).first->second;
}

std::string Environments::Refuses(const workspace::Change& change) {
  const std::string_view path = change.path;
  const bool marks = policy::FoldName(NameOf(path)) == kMark && WasThere(ParentOf(path));
  if (change.kind == ChangeKind::kDeletion)
    return marks && Exists(merged_, std::string(ParentOf(path))) ? "marks an environment that was there before" : "";
  if (marks) return kReason;
  if (change.kind == ChangeKind::kLink && WasThere(path)) return "link in place of an environment";
  // Changes inside the directory are judged one by one.
  if (change.kind == ChangeKind::kDirectory && IsDirectory(lower_, change.path)) return "";
  for (std::string_view at = path; !at.empty(); at = ParentOf(at))
    if (HoldsPrograms(NameOf(at)) && WasThere(ParentOf(at))) return kReason;
  return "";
}

}  // namespace skerry::engine
