#include "core/abilities.hpp"

#include <array>
#include <utility>

#include "core/names.hpp"

namespace skerry::core {
namespace {

constexpr std::array kStrengths = {std::pair{Strength::kNone, std::string_view("none")},
                                   std::pair{Strength::kProcess, std::string_view("process")},
                                   std::pair{Strength::kNamespaces, std::string_view("namespaces")},
                                   std::pair{Strength::kUserKernel, std::string_view("user-kernel")},
                                   std::pair{Strength::kVirtualMachine, std::string_view("virtual-machine")}};

constexpr std::array kWorkspaces = {std::pair{WorkspaceKind::kLayered, std::string_view("layered")},
                                    std::pair{WorkspaceKind::kInPlace, std::string_view("in-place")},
                                    std::pair{WorkspaceKind::kRemote, std::string_view("remote")}};

}  // namespace

std::string_view NameOf(Strength strength) {
  return NameIn(kStrengths, strength);
}

std::string_view NameOf(WorkspaceKind kind) {
  return NameIn(kWorkspaces, kind);
}

}  // namespace skerry::core
