#include "engine/scopes.hpp"

namespace skerry::engine {

std::string NamesOf(Need need) {
  std::string names;
  for (const core::TokenScope scope : {core::TokenScope::kRead, core::TokenScope::kRun, core::TokenScope::kApprove,
                                       core::TokenScope::kMetrics, core::TokenScope::kAdmin}) {
    if (!Scopes({scope}).May(need)) continue;
    names += names.empty() ? "" : " or ";
    names += core::NameOf(scope);
  }
  return names;
}

}  // namespace skerry::engine
