// ConfirmationService: a person is asked before something runs (S3).
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "core/execution.hpp"
#include "core/risk.hpp"

namespace skerry::confirm {

// What a person has to know before they answer.
struct Question {
  std::string session;       // of whom; empty for a run of its own
  std::string tenant;        // whose; empty where there is only one
  std::string execution;     // which one waits for the answer; empty where they have no names
  std::string content_type;  // "python", "javascript", "shell", "browser"
  std::string code;          // byte for byte what would run
  core::RiskAssessment risk;
  // Under what conditions, in words and in order: {"sandbox", "native"}, {"network", "none"}, {"memory", "512 MB"}.
  std::vector<std::pair<std::string, std::string>> conditions;
  std::string digest;  // SHA-256 of everything that the answer is about, 64 hexadecimal digits
  // The same without the names of session and workspace; empty for what depends on more than its content.
  std::string content;
  bool once_only = false;  // it reads what was not looked at: an approval holds for this time and no other
};

enum class Decision {
  kApproved,
  kRejected,
  kExpired,    // nobody answered in time
  kCancelled,  // the asker went away
};
std::string_view NameOf(Decision decision);

// How long an approval holds. It widens how often the same may run, never what.
enum class Scope {
  kOnce,
  kSession,  // the same digest is not asked about again in this session
  kContent,  // the same content is not asked about again, in any session of the tenant
};
std::string_view NameOf(Scope scope);
std::optional<Scope> ParseScope(std::string_view name);

struct Answer {
  Decision decision = Decision::kRejected;
  Scope scope = Scope::kOnce;
  std::string by;         // who or what decided: "terminal", "--yes", a user's name
  std::string from;       // where they did: an address; empty where that is clear
  std::string approval;   // id of the question; empty where it had none
  std::string reason;     // one line for people; why not, where it was not approved
  bool was_shown = true;  // false: the yes came with the request, to whatever it means when it runs
};

// Thread-safe.
class ConfirmationService {
 public:
  ConfirmationService() = default;
  ConfirmationService(const ConfirmationService&) = delete;
  ConfirmationService& operator=(const ConfirmationService&) = delete;
  virtual ~ConfirmationService() = default;

  // Waits for the answer, until the deadline or until `stop` is asked for. Never approves because of a failure.
  virtual Answer Ask(const Question& question, base::Deadline deadline, std::stop_token stop) = 0;

  // False: the answer comes with the request, whatever it means when it runs.
  [[nodiscard]] virtual bool Shows() const { return true; }
};

}  // namespace skerry::confirm
