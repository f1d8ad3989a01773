#include "cli/approval_calls.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/answer.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kPage = 1000;

std::string TargetOf(const std::string& id) {
  return "/v1/approvals/" + net::Escape(id);
}

// The beginning may leave out the prefix that all ids have.
bool BeginsWith(std::string_view name, std::string_view beginning) {
  constexpr std::string_view kPrefix = "apr_";
  if (name.starts_with(beginning)) return true;
  return name.starts_with(kPrefix) && name.substr(kPrefix.size()).starts_with(beginning);
}

base::Status CheckSession(const std::optional<std::string>& session) {
  return session ? workspace::CheckSessionReference(*session) : base::Status();
}

}  // namespace

base::Result<Json> WaitingApprovals(DaemonClient& daemon, const std::optional<std::string>& session) {
  SKERRY_RETURN_IF_ERROR(CheckSession(session));
  SKERRY_ASSIGN_OR_RETURN(const Json page,
                          daemon.Ask("GET", WithQuery("/v1/approvals", {{"state", "waiting"}, {"session", session}})));
  return ListIn(page, "items");
}

base::Result<Json> PastApprovals(DaemonClient& daemon, const std::optional<std::string>& session, std::size_t most) {
  SKERRY_RETURN_IF_ERROR(CheckSession(session));
  Json all = Json::array();
  std::optional<std::string> cursor;
  do {
    const std::string limit = std::to_string(std::min(kPage, most - all.size()));
    SKERRY_ASSIGN_OR_RETURN(
        const Json page,
        daemon.Ask("GET",
                   WithQuery("/v1/approvals",
                             {{"state", "decided"}, {"session", session}, {"limit", limit}, {"cursor", cursor}})));
    for (const Json& approval : ListIn(page, "items")) all.push_back(approval);
    const std::string next = TextIn(page, "next_cursor");
    cursor = next.empty() ? std::nullopt : std::optional(next);
  } while (cursor && all.size() < most);
  return all;
}

base::Result<Json> ChooseApproval(const Json& approvals, const std::string& id) {
  std::vector<const Json*> found;
  for (const Json& approval : approvals) {
    if (TextIn(approval, "id") == id) return approval;
    if (BeginsWith(TextIn(approval, "id"), id)) found.push_back(&approval);
  }
  const std::string shown = base::Printable(base::Excerpt(id));
  if (found.empty())
    return base::Err(base::Code::kNotFound, "there is no approval " + shown + "; skerry approvals lists what waits");
  if (found.size() == 1) return *found.front();
  return base::Err(base::Code::kInvalidArgument, std::to_string(found.size()) + " approvals begin with " + shown +
                                                     ", " + TextIn(*found[0], "id") + " and " +
                                                     TextIn(*found[1], "id") + " too; give more of the id");
}

base::Result<Json> FindApproval(DaemonClient& daemon, const std::string& id) {
  if (id.empty()) return base::Err(base::Code::kInvalidArgument, "which approval? skerry approvals lists what waits");
  SKERRY_RETURN_IF_ERROR(CheckIsText(id, "the id"));
  auto approval = daemon.Ask("GET", TargetOf(id));
  if (approval || approval.error().code != base::Code::kNotFound) return approval;
  SKERRY_ASSIGN_OR_RETURN(const Json waiting, WaitingApprovals(daemon, std::nullopt));
  auto chosen = ChooseApproval(waiting, id);
  // The list has only the beginning of the code.
  if (chosen) return daemon.Ask("GET", TargetOf(TextIn(*chosen, "id")));
  if (chosen.error().code != base::Code::kNotFound) return chosen;
  SKERRY_ASSIGN_OR_RETURN(const Json past, PastApprovals(daemon, std::nullopt, kPage));
  return ChooseApproval(past, id);
}

Json DecisionAsJson(const PersonsWord& word, const std::string& digest) {
  const bool approve = word.kind == PersonsWord::Kind::kApprove;
  Json decision = {{"decision", approve ? "approve" : "reject"}, {"digest", digest}};
  if (approve) decision["scope"] = word.scope;
  if (!word.reason.empty()) decision["reason"] = word.reason;
  return decision;
}

base::Status Decide(DaemonClient& daemon, const std::string& id, const Json& decision) {
  constexpr int kGone = 410;
  SKERRY_ASSIGN_OR_RETURN(auto answer, daemon.Exchange(RequestWith("POST", TargetOf(id), decision)));
  auto accepted = DaemonClient::CheckAccepted(answer);
  if (!accepted && answer.status() == kGone)
    return base::Err(base::Code::kRejected, "too late: " + accepted.error().message);
  return accepted;
}

}  // namespace skerry::cli
