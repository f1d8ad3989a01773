// SessionApprovals: code that was approved for a session is not asked about again in it, nor is content that was
// approved for the whole tenant.
#pragma once

#include <compare>
#include <cstddef>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "confirm/confirmation.hpp"

namespace skerry::confirm {

// Thread-safe. Asks another service about every question but those whose approval it remembers: the same digest, in the
// same session, approved with Scope::kSession; the same content, of the same tenant, approved with Scope::kContent.
class SessionApprovals : public ConfirmationService {
 public:
  static constexpr std::size_t kMostRemembered = 10'000;

  // `asked` is borrowed. When there are more than `max_remembered` approvals, the oldest is forgotten, and its question
  // is asked again.
  explicit SessionApprovals(ConfirmationService& asked, std::size_t max_remembered = kMostRemembered)
      : asked_(asked), max_remembered_(max_remembered) {}

  Answer Ask(const Question& question, base::Deadline deadline, std::stop_token stop) override;
  [[nodiscard]] bool Shows() const override { return asked_.Shows(); }

  [[nodiscard]] bool Remembers(const std::string& session, const std::string& digest);
  [[nodiscard]] bool RemembersContent(const std::string& tenant, const std::string& content);

  // The session is over: forgets its approvals, and does not remember those of questions that are still waiting.
  void Forget(std::string_view session);

 private:
  struct Approved {
    Scope scope = Scope::kSession;
    std::string whose;  // session or tenant
    std::string digest;
    auto operator<=>(const Approved&) const = default;
  };
  struct Pending {
    std::string_view session;
    bool forgotten = false;
  };

  void Remember(const Approved& approved);  // needs the lock
  [[nodiscard]] bool Knows(const Approved& approved);
  Answer AskOther(const Question& question, base::Deadline deadline, std::stop_token stop);

  ConfirmationService& asked_;
  const std::size_t max_remembered_;
  std::mutex mutex_;
  std::set<Approved> approved_;
  std::deque<Approved> order_;     // the same, the oldest first
  std::vector<Pending*> pending_;  // each on the stack of its Ask
};

}  // namespace skerry::confirm
