// Approvals as people read them. Foreign text is made visible, and no row of it can pass for one of Skerry's.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "confirm/code_view.hpp"
#include "core/record.hpp"

namespace skerry::cli {

// Waiting approvals: id, session, risk, how long they wait, how long they can be answered, the beginning of the code.
std::string WaitingAsTable(const nlohmann::ordered_json& approvals, core::TimePoint now);
// Decided approvals: who decided what, when and from where.
std::string PastAsTable(const nlohmann::ordered_json& approvals);

struct ApprovalTextOptions {
  confirm::Colour colour = confirm::Colour::kNone;
  std::size_t width = 80;                                            // 0: no limit
  std::size_t max_rows = std::numeric_limits<std::uint16_t>::max();  // of code
};
// All that a person has to know: where, how grave and why, the conditions, the code with the findings in it, the
// digest. For a decided approval: the answer.
std::string ApprovalAsText(const nlohmann::ordered_json& approval, const ApprovalTextOptions& options);
// The commands that answer the approval, one in a row.
std::string HowToAnswer(const nlohmann::ordered_json& approval);

// The beginning of the digest, for people.
std::string ShortDigest(const nlohmann::ordered_json& approval);
bool IsWaiting(const nlohmann::ordered_json& approval);
// Whether the approval may be given with this scope: "once", "session", "content".
bool Offers(const nlohmann::ordered_json& approval, const std::string& scope);

// "once", "for this session", "for this content"
std::string ScopeInWords(const std::string& scope);
// An event approval.decided: "a1b2 was rejected by local: too risky".
std::string DecidedInWords(const nlohmann::ordered_json& event);

}  // namespace skerry::cli
