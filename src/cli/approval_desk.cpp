#include "cli/approval_desk.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/approvals_text.hpp"
#include "cli/gate_options.hpp"
#include "cli/terminal.hpp"
#include "cli/tty.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

core::Finding FindingFrom(const Json& object) {
  return {.rule = TextIn(object, "rule"),
          .level = core::ParseRiskLevel(TextIn(object, "level")).value_or(core::RiskLevel::kCritical),
          .reject = FlagIn(object, "reject"),
          .line = static_cast<std::uint32_t>(NumberIn(object, "line")),
          .column = static_cast<std::uint32_t>(NumberIn(object, "column")),
          .text = TextIn(object, "text"),
          .explanation = TextIn(object, "explanation"),
          .source = TextIn(object, "source")};
}

core::RiskAssessment RiskFrom(const Json& object) {
  core::RiskAssessment risk{.level = core::ParseRiskLevel(TextIn(object, "level")).value_or(core::RiskLevel::kCritical),
                            .reason = TextIn(object, "reason"),
                            .requires_confirmation = FlagIn(object, "requires_confirmation"),
                            .requires_isolation = FlagIn(object, "requires_isolation")};
  for (const auto sandbox : {core::SuggestedSandbox::kSubprocess, core::SuggestedSandbox::kIsolated,
                             core::SuggestedSandbox::kBrowser, core::SuggestedSandbox::kReject})
    if (core::NameOf(sandbox) == TextIn(object, "suggested_sandbox")) risk.suggested_sandbox = sandbox;
  for (const Json& finding : ListIn(object, "findings")) risk.findings.push_back(FindingFrom(finding));
  return risk;
}

base::Deadline DeadlineOf(const Json& notice) {
  const auto expires = TimeIn(notice, "expires_at");
  if (!expires) return base::Deadline::Never();
  const auto left = *expires - std::chrono::system_clock::now();
  return base::Deadline::After(std::max(std::chrono::duration_cast<base::Deadline::Clock::duration>(left), {}));
}

Json DecisionOf(const confirm::Answer& answer, const std::string& digest) {
  const bool approved = answer.decision == confirm::Decision::kApproved;
  Json decision = {{"decision", approved ? "approve" : "reject"}, {"digest", digest}};
  if (approved) decision["scope"] = answer.scope == confirm::Scope::kSession ? "session" : "once";
  if (!answer.reason.empty()) decision["reason"] = answer.reason;
  return decision;
}

}  // namespace

confirm::Question QuestionFrom(const Json& approval) {
  confirm::Question question{.session = TextIn(approval, "session_id"),
                             .execution = TextIn(approval, "execution_id"),
                             .content_type = TextIn(approval, "content_type"),
                             .code = TextIn(approval, "code"),
                             .risk = RiskFrom(ObjectIn(approval, "risk")),
                             .digest = TextIn(approval, "digest"),
                             .once_only = approval.contains("scopes") && !Offers(approval, "session")};
  for (const Json& condition : ListIn(approval, "conditions"))
    if (condition.is_array() && condition.size() == 2 && condition[0].is_string() && condition[1].is_string())
      question.conditions.emplace_back(condition[0].get<std::string>(), condition[1].get<std::string>());
  return question;
}

void ApprovalDesk::Ask(const Json& notice) {
  Withdraw();
  const std::string id = TextIn(notice, "approval_id");
  if (unattended_ == Unattended::kWaits && !Tty().IsInteractive()) {
    Note("waits for approval " + id + ", until " + TextIn(notice, "expires_at") + "; skerry approvals approve " + id +
         " answers, and --yes does not ask");
    waiting_.emplace("waits for approval " + id);
    return;
  }
  asking_ = true;
  thread_ = std::jthread([this, id, deadline = DeadlineOf(notice)](const std::stop_token& stop) {
    Converse(id, deadline, stop);
    asking_ = false;
  });
}

void ApprovalDesk::Converse(const std::string& id, base::Deadline deadline, const std::stop_token& stop) {
  using confirm::Decision;
  DaemonClient daemon = daemon_.Again();
  const std::string target = "/v1/approvals/" + net::Escape(id);
  const auto approval = daemon.Ask("GET", target);
  if (!approval) return Note("cannot ask for approval " + id + ": " + approval.error().message);
  const confirm::Question question = QuestionFrom(*approval);
  AskAtTerminal asking;
  const confirm::Answer answer = asking.Ask(question, deadline, stop);
  // Without an answer the question stays with the daemon, or with another client.
  if (answer.decision != Decision::kApproved && answer.decision != Decision::kRejected) return;
  const auto decided = daemon.Ask("POST", target, DecisionOf(answer, question.digest));
  if (!decided) Note("the answer did not count: " + decided.error().message);
}

void ApprovalDesk::Withdraw() {
  waiting_.reset();
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

}  // namespace skerry::cli
