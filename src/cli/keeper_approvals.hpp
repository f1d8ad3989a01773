// The approvals of a keeper's clients, who ask the person themselves.
#pragma once

#include <memory>

#include "confirm/carried_approvals.hpp"
#include "confirm/session_approvals.hpp"

namespace skerry::cli {

// Thread-safe. A session is a context.
class KeeperApprovals {
 public:
  KeeperApprovals() : remembered_(carried_) {}

  [[nodiscard]] confirm::CarriedApprovals& carried() { return carried_; }
  [[nodiscard]] confirm::SessionApprovals& remembered() { return remembered_; }
  // For a gate; borrowed from this.
  [[nodiscard]] std::shared_ptr<confirm::ConfirmationService> Service() {
    return {std::shared_ptr<void>(), &remembered_};
  }

 private:
  confirm::CarriedApprovals carried_;
  confirm::SessionApprovals remembered_;
};

}  // namespace skerry::cli
