// skerry approvals: the questions that wait for a person, and their answers.
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/approval_calls.hpp"
#include "cli/approvals_text.hpp"
#include "cli/approvals_watch.hpp"
#include "cli/command.hpp"
#include "cli/command_output.hpp"
#include "cli/daemon_client.hpp"
#include "cli/raw_terminal.hpp"
#include "cli/tty.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ApprovalsOptions {
  std::string id;
  std::optional<std::string> session;
  std::string digest;
  std::string reason;
  std::size_t limit = 100;
  bool all = false;
  bool json = false;
  bool once = false;
  bool yes = false;
  bool for_session = false;
  bool for_content = false;
};

base::Result<int> Done(const base::Status& written) {
  if (!written) return std::unexpected(written.error());
  return 0;
}

base::Result<int> List(const Context& context, const ApprovalsOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(Json waiting, WaitingApprovals(daemon, options.session));
  Json past = Json::array();
  if (options.all) {
    SKERRY_ASSIGN_OR_RETURN(past, PastApprovals(daemon, options.session, options.limit));
  }
  if (options.json) {
    for (Json& approval : past) waiting.push_back(std::move(approval));
    return Done(WriteJson(waiting));
  }
  std::string text = waiting.empty() ? "nothing waits; skerry approvals watch shows questions as they come\n"
                                     : WaitingAsTable(waiting, std::chrono::system_clock::now());
  if (!past.empty()) text += "\n" + PastAsTable(past);
  if (!waiting.empty())
    text += "\nskerry approvals show ID shows what would run; approve ID or reject ID answers, watch does both\n";
  return Done(WriteText(text));
}

ApprovalTextOptions OnStdout() {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  return {.colour = ColoursFor(STDOUT_FILENO), .width = terminal ? RawTerminal::Size().columns : 0};
}

base::Result<int> Show(const Context& context, const ApprovalsOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json approval, FindApproval(daemon, options.id));
  if (options.json) return Done(WriteJson(approval));
  std::string text = ApprovalAsText(approval, OnStdout());
  if (IsWaiting(approval)) text += "\n" + HowToAnswer(approval);
  return Done(WriteText(text));
}

// A waiting approval; an error that tells why a decided one does not wait.
base::Result<Json> FindWaiting(DaemonClient& daemon, const std::string& id) {
  SKERRY_ASSIGN_OR_RETURN(Json approval, FindApproval(daemon, id));
  if (IsWaiting(approval)) return approval;
  const std::string state = TextIn(approval, "state");
  const std::string what = TextIn(approval, "id") + (state == "expired" ? " has expired" : " was " + state);
  if (state == "approved" || state == "rejected")
    return base::Err(base::Code::kConflict, what + " by " + TextIn(approval, "decided_by") + " already");
  return base::Err(base::Code::kRejected, "too late: " + what);
}

base::Status AskPerson(const Json& approval, const std::string& scope) {
  Tty tty;
  const std::string id = TextIn(approval, "id");
  if (!tty.IsInteractive())
    return base::Err(base::Code::kInvalidArgument,
                     "nobody can be asked here: say what is approved with --digest, or --yes for whatever it is; "
                     "skerry approvals show " +
                         id + " tells the digest");
  tty.Write("\n" + ApprovalAsText(approval, {.colour = tty.Colours(), .width = tty.Width(), .max_rows = 500}));
  tty.DiscardTypeahead();
  tty.Write("Approve this " + ScopeInWords(scope) + "? [y] yes, [N] no: ");
  const std::chrono::seconds left(NumberIn(approval, "remaining_seconds"));
  const auto line = tty.ReadLine(base::Deadline::After(left), std::stop_token());
  if (!line) tty.Write("\n");
  if (line && (*line == "y" || *line == "yes" || *line == "Y")) return {};
  return base::Err(base::Code::kRejected,
                   "not approved, and nothing was answered; skerry approvals reject " + id + " says no");
}

base::Result<int> Say(DaemonClient& daemon, const Json& approval, const PersonsWord& word,
                      const ApprovalsOptions& options) {
  const std::string id = TextIn(approval, "id");
  const std::string digest = options.digest.empty() ? TextIn(approval, "digest") : options.digest;
  SKERRY_RETURN_IF_ERROR(CheckIsText(word.reason, "--reason"));
  SKERRY_RETURN_IF_ERROR(CheckIsText(digest, "--digest"));
  SKERRY_RETURN_IF_ERROR(Decide(daemon, id, DecisionAsJson(word, digest)));
  const bool approve = word.kind == PersonsWord::Kind::kApprove;
  if (options.json) {
    Json said = {{"id", id}, {"decision", approve ? "approve" : "reject"}};
    if (approve) said["scope"] = word.scope;
    said["digest"] = digest;
    return Done(WriteJson(said));
  }
  const std::string what = id + (approve ? " approved " + ScopeInWords(word.scope) : " rejected");
  return Done(WriteText(what + ", digest " + ShortDigest(approval) + "\n"));
}

base::Result<int> Approve(const Context& context, const ApprovalsOptions& options) {
  if (options.for_session && options.for_content)
    return base::Err(base::Code::kInvalidArgument, "give one of --session and --content");
  const std::string scope = options.for_session ? "session" : options.for_content ? "content" : "once";
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json approval, FindWaiting(daemon, options.id));
  if (!Offers(approval, scope))
    return base::Err(base::Code::kInvalidArgument,
                     "this one cannot be approved " + ScopeInWords(scope) + "; approve it without --" + scope);
  if (options.digest.empty() && !options.yes) SKERRY_RETURN_IF_ERROR(AskPerson(approval, scope));
  return Say(daemon, approval, {.kind = PersonsWord::Kind::kApprove, .scope = scope, .reason = options.reason},
             options);
}

base::Result<int> Reject(const Context& context, const ApprovalsOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json approval, FindWaiting(daemon, options.id));
  return Say(daemon, approval, {.kind = PersonsWord::Kind::kReject, .reason = options.reason}, options);
}

base::Result<int> Watch(const Context& context, const ApprovalsOptions& options) {
  using Until = WatchOptions::Until;
  SKERRY_ASSIGN_OR_RETURN(const DaemonClient daemon, DaemonClient::Find(context));
  WatchOptions wanted{.session = options.session, .until = options.once ? Until::kFirstIsOver : Until::kQuit};
  if (options.json || !KeyTerminal::IsThere()) return FollowApprovals(daemon, wanted);
  return ApprovalsWatch(daemon, std::move(wanted)).Run();
}

// The commands share the options: skerry approvals --json list is understood.
using SharedOptions = std::shared_ptr<ApprovalsOptions>;

Option JsonOption(ApprovalsOptions& options) {
  return {.names = "--json", .description = "Print JSON", .to = &options.json};
}

Option SessionOption(ApprovalsOptions& options) {
  return {.names = "--session",
          .value = Value::Session(),
          .description = "Only those of this session",
          .to = &options.session};
}

Argument IdArgument(ApprovalsOptions& options) {
  return {.name = "id",
          .value = Value::Approval("ID"),
          .description = "The approval; a beginning that no other has is enough",
          .to = &options.id,
          .need = Need::kRequired};
}

Option AllOption(ApprovalsOptions& options) {
  return {.names = "--all", .description = "Also those that are over, the newest first", .to = &options.all};
}

Option LimitOption(ApprovalsOptions& options) {
  return {.names = "--limit",
          .value = Value::Text("N"),
          .description = "At most so many that are over (100)",
          .to = &options.limit,
          .bounds = Range{.least = 1, .most = 100'000}};
}

Command ListCommand(const Context& context, const SharedOptions& options) {
  return {.name = "list",
          .description = "What waits; this is what skerry approvals does alone",
          .options = {JsonOption(*options), AllOption(*options), SessionOption(*options), LimitOption(*options)},
          .action = [=, &context] { return List(context, *options); },
          .errors_as_json = &options->json};
}

Command ShowCommand(const Context& context, const SharedOptions& options) {
  return {.name = "show",
          .description = "What would run, what was found in it, and under which conditions",
          .arguments = {IdArgument(*options)},
          .options = {JsonOption(*options)},
          .action = [=, &context] { return Show(context, *options); },
          .errors_as_json = &options->json};
}

Command ApproveCommand(const Context& context, const SharedOptions& options) {
  return {.name = "approve",
          .description = "Let it run; shows it and asks first",
          .footer =
              "What has another digest by then does not run.\n\n"
              "Example:\n  skerry approvals approve apr_a1b2 --session",
          .arguments = {IdArgument(*options)},
          .options = {JsonOption(*options),
                      {.names = "--session",
                       .description = "And do not ask about the same again in this session",
                       .to = &options->for_session},
                      {.names = "--content",
                       .description = "And do not ask about the same again in any session",
                       .to = &options->for_content},
                      {.names = "--digest",
                       .value = Value::Text("DIGEST"),
                       .description = "Of what is approved, as show tells it: does not ask",
                       .to = &options->digest},
                      {.names = "-y,--yes", .description = "Whatever it is: does not ask", .to = &options->yes},
                      {.names = "--reason",
                       .value = Value::Text("TEXT"),
                       .description = "Goes into the record",
                       .to = &options->reason}},
          .action = [=, &context] { return Approve(context, *options); },
          .errors_as_json = &options->json};
}

Command RejectCommand(const Context& context, const SharedOptions& options) {
  return {.name = "reject",
          .description = "Do not let it run",
          .footer = "Example:\n  skerry approvals reject apr_a1b2 --reason 'not on a Friday'",
          .arguments = {IdArgument(*options)},
          .options = {JsonOption(*options),
                      {.names = "--reason",
                       .value = Value::Text("TEXT"),
                       .description = "Told to whoever asked",
                       .to = &options->reason}},
          .action = [=, &context] { return Reject(context, *options); },
          .errors_as_json = &options->json};
}

Command WatchCommand(const Context& context, const SharedOptions& options) {
  return {.name = "watch",
          .description = "Show questions as they come, and answer them at a key",
          .footer =
              "Keys: a approve once, s for this session, c for this content, r reject with a reason, n next, v view "
              "the whole with $PAGER, q quit.\n"
              "With --json, or without a terminal, each event is a line of JSON and nothing is asked.",
          .options = {JsonOption(*options),
                      SessionOption(*options),
                      {.names = "--once", .description = "End when the first one is over", .to = &options->once}},
          .action = [=, &context] { return Watch(context, *options); },
          .errors_as_json = &options->json};
}

}  // namespace

Command ApprovalsCommand(const Context& context) {
  const auto options = std::make_shared<ApprovalsOptions>();
  return {.name = "approvals",
          .description = "Questions that wait for a person, and their answers",
          .footer =
              "Approvals are the daemon's: skerry serve, or the one that SKERRY_URL names; a token needs the scope "
              "approve.\n\n"
              "Examples:\n"
              "  skerry approvals\n"
              "  skerry approvals show apr_a1b2\n"
              "  skerry approvals approve apr_a1b2\n"
              "  skerry approvals watch",
          .options = {AllOption(*options), SessionOption(*options), LimitOption(*options), JsonOption(*options)},
          .commands = {ListCommand(context, options), ShowCommand(context, options), ApproveCommand(context, options),
                       RejectCommand(context, options), WatchCommand(context, options)},
          .action = [=, &context] { return List(context, *options); },
          .errors_as_json = &options->json};
}

}  // namespace skerry::cli
