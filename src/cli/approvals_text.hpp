// Approvals as people read them. Everything foreign is made visible, and no row of it can pass for one of ours.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "confirm/code_view.hpp"
#include "core/record.hpp"

namespace skerry::cli {

// Those that wait: id, session, risk, for how long, for how long yet, the beginning of what would run.
std::string WaitingAsTable(const nlohmann::ordered_json& approvals, core::TimePoint now);
// Those that are over: who decided what, when and from where.
std::string PastAsTable(const nlohmann::ordered_json& approvals);

struct ApprovalTextOptions {
  confirm::Colour colour = confirm::Colour::kNone;
  std::size_t width = 80;                                            // 0: no limit
  std::size_t max_rows = std::numeric_limits<std::uint16_t>::max();  // of code
};
// All that a person has to know: where, how grave and why, the conditions, the code with what was found in it, the
// digest. Of one that is over: the answer.
std::string ApprovalAsText(const nlohmann::ordered_json& approval, const ApprovalTextOptions& options);
// The commands that answer it, one in a row.
std::string HowToAnswer(const nlohmann::ordered_json& approval);

// The beginning of the digest, for people.
std::string ShortDigest(const nlohmann::ordered_json& approval);
bool IsWaiting(const nlohmann::ordered_json& approval);
// Whether it may be approved for so long: "once", "session", "content".
bool Offers(const nlohmann::ordered_json& approval, const std::string& scope);

// "once", "for this session", "for this content"
std::string ScopeInWords(const std::string& scope);
// An event approval.decided: "a1b2 was rejected by local: too risky".
std::string DecidedInWords(const nlohmann::ordered_json& event);

}  // namespace skerry::cli
