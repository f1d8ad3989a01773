#include "cli/approvals_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "cli/answer.hpp"
#include "cli/approval_desk.hpp"
#include "cli/cell_text.hpp"
#include "cli/table.hpp"
#include "confirm/glyphs.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::seconds;

constexpr std::size_t kWhatCells = 48;
constexpr std::size_t kReasonCells = 60;
constexpr std::size_t kDigestDigits = 16;

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string Since(const Json& approval, core::TimePoint now) {
  const auto time = TimeIn(approval, "created_at");
  return time ? ShortTime(std::chrono::duration_cast<seconds>(now - *time)) : "-";
}

std::string Left(const Json& approval) {
  return ShortTime(seconds(NumberIn(approval, "remaining_seconds")));
}

std::string TimeOf(const Json& approval, const char* name) {
  const auto time = TimeIn(approval, name);
  return time ? Moment(*time) : "-";
}

std::string Row(const std::string& name, const std::string& value, const ApprovalTextOptions& options) {
  constexpr std::size_t kNames = 14;
  const std::string head = "  " + LeftIn(name, kNames) + " ";
  const std::string rows = InRows(value, {.width = options.width, .indent = head.size(), .max_rows = 20});
  return head + rows.substr(head.size());
}

std::string WhereIs(const Json& approval) {
  const std::string session = TextIn(approval, "session_id");
  return session.empty() ? "a run of its own" : session;
}

std::string PastAsText(const Json& approval, const ApprovalTextOptions& options) {
  std::string text = Row("approval", TextIn(approval, "id"), options);
  text += Row("session", WhereIs(approval), options);
  text += Row("execution", TextIn(approval, "execution_id"), options);
  text += Row("asked", TimeOf(approval, "created_at"), options);
  text += Row("answer", OrDash(TextIn(approval, "state")), options);
  text += Row("when", TimeOf(approval, "decided_at"), options);
  text += Row("by", OrDash(TextIn(approval, "decided_by")), options);
  text += Row("from", OrDash(TextIn(approval, "decided_from")), options);
  if (TextIn(approval, "state") == "approved") text += Row("for", ScopeInWords(TextIn(approval, "scope")), options);
  text += Row("reason", OrDash(TextIn(approval, "reason")), options);
  return text + Row("digest", TextIn(approval, "digest"), options);
}

std::string WaitingAsText(const Json& approval, const ApprovalTextOptions& options) {
  const confirm::Question question = QuestionFrom(approval);
  const core::RiskLevel level = question.risk.level;
  const std::string grave = confirm::Coloured(std::string(core::NameOf(level)) + " risk", level, options.colour);
  std::string text = grave + ":\n" + InRows(question.risk.reason, {.width = options.width, .indent = 2, .max_rows = 5});
  text += Row("approval", TextIn(approval, "id"), options);
  text += Row("session", WhereIs(approval), options);
  for (const auto& [name, value] : question.conditions) text += Row(name, value, options);
  text += Row("digest", question.digest, options);
  text += Row("language", question.content_type, options) + "\n";
  text += confirm::CodeView(question.code, question.risk.findings,
                            {.colour = options.colour,
                             .long_lines = confirm::LongLines::kWrap,
                             .max_lines = options.max_rows,
                             .context = 3,
                             .width = options.width});
  // The level once more: with long code the beginning has scrolled away.
  return text + "\n" + grave + ", digest " + ShortDigest(approval) + ", " + Left(approval) + " left\n";
}

}  // namespace

bool IsWaiting(const Json& approval) {
  return TextIn(approval, "state") == "waiting";
}

bool Offers(const Json& approval, const std::string& scope) {
  return std::ranges::any_of(ListIn(approval, "scopes"), [&](const Json& offered) { return offered == scope; });
}

std::string ShortDigest(const Json& approval) {
  return confirm::Visible(TextIn(approval, "digest").substr(0, kDigestDigits));
}

std::string ScopeInWords(const std::string& scope) {
  if (scope == "session") return "for this session";
  return scope == "content" ? "for this content" : "once";
}

std::string WaitingAsTable(const Json& approvals, core::TimePoint now) {
  std::vector<std::vector<std::string>> table = {{"APPROVAL", "SESSION", "RISK", "WAITS", "LEFT", "WHAT"}};
  for (const Json& approval : approvals) {
    const std::string what =
        TextIn(approval, "content_type") + ": " + std::string(FirstLineOf(TextIn(approval, "code")));
    table.push_back({TextIn(approval, "id"), OrDash(TextIn(approval, "session_id")),
                     OrDash(TextIn(ObjectIn(approval, "risk"), "level")), Since(approval, now), Left(approval),
                     CutTo(what, kWhatCells)});
  }
  return AsTable(table);
}

std::string PastAsTable(const Json& approvals) {
  std::vector<std::vector<std::string>> table = {{"APPROVAL", "SESSION", "ANSWER", "WHEN", "BY", "FROM", "REASON"}};
  for (const Json& approval : approvals) {
    const std::string scope = TextIn(approval, "scope");
    const bool wide = TextIn(approval, "state") == "approved" && !scope.empty() && scope != "once";
    table.push_back({TextIn(approval, "id"), OrDash(TextIn(approval, "session_id")),
                     TextIn(approval, "state") + (wide ? " " + ScopeInWords(scope) : ""),
                     TimeOf(approval, "decided_at"), OrDash(TextIn(approval, "decided_by")),
                     OrDash(TextIn(approval, "decided_from")),
                     OrDash(CutTo(TextIn(approval, "reason"), kReasonCells))});
  }
  return AsTable(table);
}

std::string ApprovalAsText(const Json& approval, const ApprovalTextOptions& options) {
  return IsWaiting(approval) ? WaitingAsText(approval, options) : PastAsText(approval, options);
}

std::string HowToAnswer(const Json& approval) {
  const std::string id = confirm::Visible(TextIn(approval, "id"));
  const std::string digest = " --digest " + confirm::Visible(TextIn(approval, "digest"));
  std::string text = "Answer:\n  skerry approvals approve " + id + digest + "\n";
  if (Offers(approval, "session")) text += "  … --session: the same is not asked again in this session\n";
  if (Offers(approval, "content")) text += "  … --content: the same is not asked again in any session\n";
  return text + "  skerry approvals reject " + id + " --reason '…'\n";
}

std::string DecidedInWords(const Json& event) {
  const std::string decision = TextIn(event, "decision");
  std::string text = confirm::Visible(TextIn(event, "approval_id")) + " ";
  if (decision == "approved" || decision == "rejected") {
    text += "was " + decision + " by " + OrDash(CutTo(TextIn(event, "by"), kReasonCells));
    if (decision == "approved") text += ", " + ScopeInWords(TextIn(event, "scope"));
  } else {
    text += decision == "expired" ? "has expired" : "is gone";
  }
  const std::string reason = TextIn(event, "reason");
  return reason.empty() ? text : text + ": " + CutTo(reason, kReasonCells);
}

}  // namespace skerry::cli
