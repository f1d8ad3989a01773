// skerry approvals: the questions that wait for a person, and their answers.
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/answer.hpp"
#include "cli/approval_calls.hpp"
#include "cli/approvals_text.hpp"
#include "cli/approvals_watch.hpp"
#include "cli/command.hpp"
#include "cli/command_output.hpp"
#include "cli/daemon_client.hpp"
#include "cli/raw_terminal.hpp"
#include "cli/terminal.hpp"
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

// Those that wait; why not, for one that is over.
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

using Action = base::Result<int> (*)(const Context&, const ApprovalsOptions&);

// Where commands are added, and what they need.
struct ApprovalsGroup {
  CLI::App& app;
  const Context& context;
  int& exit_code;
  std::shared_ptr<ApprovalsOptions> options;
};

CLI::App* AddAction(const ApprovalsGroup& group, const char* name, const char* what, Action action) {
  CLI::App* command = group.app.add_subcommand(name, what);
  command->add_flag("--json", group.options->json, "Print JSON");
  command->callback([group, action] {
    group.exit_code = Conclude(action(group.context, *group.options), group.options->json ? Form::kJson : Form::kText);
  });
  return command;
}

void AddId(CLI::App* command, const ApprovalsGroup& group) {
  command->add_option("id", group.options->id, "The approval; a beginning that no other has is enough")
      ->option_text("ID")
      ->required();
}

void AddListOptions(CLI::App* command, const ApprovalsGroup& group) {
  command->add_flag("--all", group.options->all, "Also those that are over, the newest first");
  command->add_option("--session", group.options->session, "Only those of this session")->option_text("SESSION");
  command->add_option("--limit", group.options->limit, "At most so many that are over (100)")
      ->check(CLI::Range(1, 100'000))
      ->option_text("N");
}

void AddAnswers(const ApprovalsGroup& group) {
  ApprovalsOptions& options = *group.options;
  CLI::App* approve = AddAction(group, "approve", "Let it run; shows it and asks first", Approve);
  AddId(approve, group);
  approve->add_flag("--session", options.for_session, "And do not ask about the same again in this session");
  approve->add_flag("--content", options.for_content, "And do not ask about the same again in any session");
  approve->add_option("--digest", options.digest, "Of what is approved, as show tells it: does not ask")
      ->option_text("DIGEST");
  approve->add_flag("-y,--yes", options.yes, "Whatever it is: does not ask");
  approve->add_option("--reason", options.reason, "Goes into the record")->option_text("TEXT");
  approve->footer(
      "What has another digest by then does not run.\n\n"
      "Example:\n  skerry approvals approve apr_a1b2 --session");
  CLI::App* reject = AddAction(group, "reject", "Do not let it run", Reject);
  AddId(reject, group);
  reject->add_option("--reason", options.reason, "Told to whoever asked")->option_text("TEXT");
  reject->footer("Example:\n  skerry approvals reject apr_a1b2 --reason 'not on a Friday'");
}

void AddWatch(const ApprovalsGroup& group) {
  CLI::App* watch = AddAction(group, "watch", "Show questions as they come, and answer them at a key", Watch);
  watch->add_option("--session", group.options->session, "Only those of this session")->option_text("SESSION");
  watch->add_flag("--once", group.options->once, "End when the first one is over");
  watch->footer(
      "Keys: a approve once, s for this session, c for this content, r reject with a reason, n next, v view the whole "
      "with $PAGER, q quit.\n"
      "With --json, or without a terminal, each event is a line of JSON and nothing is asked.");
}

}  // namespace

void AddApprovalsCommand(CLI::App& app, const Context& context, int& exit_code) {
  CLI::App* approvals = app.add_subcommand("approvals", "Questions that wait for a person, and their answers");
  const ApprovalsGroup group{*approvals, context, exit_code, std::make_shared<ApprovalsOptions>()};
  AddListOptions(approvals, group);
  approvals->add_flag("--json", group.options->json, "Print JSON");
  AddListOptions(AddAction(group, "list", "What waits; this is what skerry approvals does alone", List), group);
  AddId(AddAction(group, "show", "What would run, what was found in it, and under which conditions", Show), group);
  AddAnswers(group);
  AddWatch(group);
  approvals->footer(
      "Approvals are the daemon's: skerry serve, or the one that SKERRY_URL names; a token needs the scope approve.\n\n"
      "Examples:\n"
      "  skerry approvals\n"
      "  skerry approvals show apr_a1b2\n"
      "  skerry approvals approve apr_a1b2\n"
      "  skerry approvals watch");
  approvals->callback([approvals, group] {
    if (!approvals->get_subcommands().empty()) return;
    const auto listed = List(group.context, *group.options);
    group.exit_code = Conclude(listed, group.options->json ? Form::kJson : Form::kText);
  });
}

}  // namespace skerry::cli
