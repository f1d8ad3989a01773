#include "confirm/confirmation.hpp"

namespace skerry::confirm {

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
