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

// What a person has to know before answering.
struct Question {
  std::string session;       // in which the code would run; empty for a run without a session
  std::string tenant;        // of the session or run; empty where there is only one tenant
  std::string execution;     // id of the execution that waits for the answer; empty where executions have none
  std::string content_type;  // "python", "javascript", "shell", "browser"
  std::string code;          // byte for byte what would run
  core::RiskAssessment risk;
  // The conditions under which the code would run, in words and in order: {"sandbox", "native"}, {"network", "none"},
  // {"memory", "512 MB"}.
  std::vector<std::pair<std::string, std::string>> conditions;
  std::string digest;  // SHA-256 of everything that the answer is about, 64 hexadecimal digits
  // As `digest`, without the names of session and workspace; empty for a run that depends on more than its content.
  std::string content;
  bool once_only =
      false;  // the code reads something that was not assessed: an approval holds for this run and no other
};

enum class Decision {
  kApproved,
  kRejected,
  kExpired,    // nobody answered in time
  kCancelled,  // the caller of Ask requested a stop
};
std::string_view NameOf(Decision decision);

// How long an approval holds. A wider scope says how often the same may run, never what.
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
  std::string from;       // the address of the person who decided; empty where that is clear
  std::string approval;   // id of the question; empty where the question had none
  std::string reason;     // one line for people: why it was decided so
  bool was_shown = true;  // false: the approval came with the request; nobody was shown what runs
};

// Thread-safe.
class ConfirmationService {
 public:
  ConfirmationService() = default;
  ConfirmationService(const ConfirmationService&) = delete;
  ConfirmationService& operator=(const ConfirmationService&) = delete;
  virtual ~ConfirmationService() = default;

  // Waits for the answer, until the deadline or until `stop` is requested. A failure never approves.
  virtual Answer Ask(const Question& question, base::Deadline deadline, std::stop_token stop) = 0;

  // False: this service shows nothing to a person; its answer came with the request.
  [[nodiscard]] virtual bool Shows() const { return true; }
};

}  // namespace skerry::confirm
