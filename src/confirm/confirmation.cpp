#include "confirm/confirmation.hpp"

#include <array>
#include <utility>

#include "core/names.hpp"

namespace skerry::confirm {
namespace {

constexpr std::array kScopes = {std::pair{Scope::kOnce, std::string_view("once")},
                                std::pair{Scope::kSession, std::string_view("session")},
                                std::pair{Scope::kContent, std::string_view("content")}};

}  // namespace

std::string_view NameOf(Scope scope) {
  return core::NameIn(kScopes, scope);
}

std::optional<Scope> ParseScope(std::string_view name) {
  return core::ValueIn(kScopes, name);
}

std::string_view NameOf(Decision decision) {
  switch (decision) {
    case Decision::kApproved:
      return "approved";
    case Decision::kRejected:
      return "rejected";
    case Decision::kExpired:
      return "expired";
    case Decision::kCancelled:
      return "cancelled";
  }
  return "";
}

}  // namespace skerry::confirm
