// Commands: programs in a session, in the background or not, with a terminal or not.
#include <array>
#include <optional>
#include <utility>

#include "engine/views/runs_view.hpp"
#include "engine/views/signals.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/attachment.hpp"
#include "transport/v1/output.hpp"
#include "transport/v1/run_json.hpp"
#include "transport/v1/work.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::chrono::seconds kLongest{86'400};
constexpr std::size_t kLongestCommand = std::size_t{128} << 10U;
constexpr std::size_t kMostArguments = 4096;
constexpr std::size_t kLongestArgument = std::size_t{128} << 10U;

void ReadProgram(json::Fields& fields, core::ExecutionRequest& request) {
  request.language = core::Language::kShell;
  auto command = fields.Text("command", kLongestCommand);
  auto arguments = fields.Texts("argv", kMostArguments, kLongestArgument);
  if (arguments && (arguments->empty() || arguments->front().empty())) fields.Fail("argv", "must begin with a program");
  if (command.has_value() == arguments.has_value()) {
    fields.Fail("command", "or argv is needed, and only one of them");
    return;
  }
  if (command) {
    request.code = *std::move(command);
  } else {
    request.arguments = *std::move(arguments);
    request.code = core::ShellText(request.arguments);
  }
}

std::optional<core::TerminalSize> ReadTerminal(json::Fields& fields) {
  const nlohmann::json* object = fields.Object("terminal");
  if (object == nullptr) return std::nullopt;
  json::Fields inner(*object, "terminal.");
  const auto rows = inner.Number("rows", 1, 1000);
  const auto columns = inner.Number("columns", 1, 1000);
  if (!rows || !columns) inner.Fail("rows", "and columns are needed");
  fields.Adopt(inner);
  return core::TerminalSize{.rows = rows.value_or(1), .columns = columns.value_or(1)};
}

struct CommandOrder {
  engine::NewRun run;
  bool background = false;
};

base::Result<CommandOrder> ReadCommand(const engine::Access& access, const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(auto session, SessionOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  CommandOrder order;
  SKERRY_ASSIGN_OR_RETURN(order.run, access.runs().Draft(engine::RunKind::kCommand, std::move(session)));
  engine::NewRun& run = order.run;
  ReadSurroundings(fields, run);
  ReadProgram(fields, run.request);
  order.background = fields.Flag("background").value_or(false);
  if (order.background) run.request.timeout = kLongest;
  if (const auto seconds = fields.Number("timeout", 1, static_cast<std::uint64_t>(kLongest.count())))
    run.request.timeout = std::chrono::seconds(*seconds);
  run.terminal = ReadTerminal(fields);
  const bool open = fields.Flag("stdin").value_or(false) || run.terminal;
  run.input = open ? engine::Input::kPipe : engine::Input::kNone;
  ReadConsent(fields, run);
  ReadOnDisconnect(fields, run);
  if (order.background && run.when_left == engine::WhenLeft::kEnds) run.when_left = engine::WhenLeft::kEndsUnattended;
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_ASSIGN_OR_RETURN(run.claim, ClaimOf(request));
  return order;
}

base::Result<http::Response> Start(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(CommandOrder order, ReadCommand(access, request));
  if (!order.background) return Answer(api, access, request, std::move(order.run));
  SKERRY_ASSIGN_OR_RETURN(const engine::StartedRun started,
                          access.runs().Begin(std::move(order.run), engine::Place::kBeside));
  http::Response response = JsonAnswer(started.replayed ? 200 : 201, ExecutionToJson(access, *started.run));
  if (started.replayed) response.headers.Add("Idempotent-Replayed", "true");
  return response;
}

// Finds only commands of the session that the path names.
base::Result<std::shared_ptr<const engine::Run>> CommandOf(const engine::Access& access, const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  return access.runs().FindCommand(session, request.parameters.at("command"));
}

base::Result<http::Response> List(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"cursor", "limit"}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(access, request));
  return PageOfRuns(access, request, {.session = session.id(), .kind = "command"});
}

base::Result<http::Response> Get(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto run, CommandOf(access, request));
  return WholeAnswer(api, access, request, *run);
}

base::Result<http::Response> Logs(Api& api, const http::Request& request) {
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto run, CommandOf(access, request));
  return OutputAnswer(api, request, *run);
}

base::Result<http::Response> Feed(Api& api, const http::Request& request) {
  constexpr std::array<std::string_view, 2> kFlags = {"true", "false"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"end"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string word, WordOf(request, "end", kFlags, ""));
  std::optional<bool> end;
  if (!word.empty()) end = word == "true";
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto run, CommandOf(access, request));
  SKERRY_RETURN_IF_ERROR(access.runs().Feed(run->id(), request.body.bytes, end));
  return kit::NoContent();
}

base::Result<http::Response> Signal(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto run, CommandOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto number = engine::SignalNumber(fields.Text("signal", 32).value_or(""));
  if (!number) fields.Fail("signal", "must be one of INT, TERM, KILL, HUP, QUIT, USR1, USR2, WINCH, STOP, CONT");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_RETURN_IF_ERROR(access.runs().Signal(run->id(), *number));
  return kit::NoContent();
}

base::Result<http::Response> Resize(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto run, CommandOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto rows = fields.Number("rows", 1, 1000);
  const auto columns = fields.Number("columns", 1, 1000);
  if (!rows || !columns) fields.Fail("rows", "and columns are needed");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_RETURN_IF_ERROR(access.runs().Resize(run->id(), {.rows = *rows, .columns = *columns}));
  return kit::NoContent();
}

base::Result<http::Response> AttachTo(Api& api, const http::Request& request) {
  constexpr std::array<std::string_view, 2> kWords = {"continue", "kill"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"offset", "on_disconnect"}));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t offset, OffsetOf(request));
  SKERRY_ASSIGN_OR_RETURN(const std::string word, WordOf(request, "on_disconnect", kWords, ""));
  std::optional<engine::WhenLeft> when_left;
  if (!word.empty()) when_left = word == "kill" ? engine::WhenLeft::kEndsUnattended : engine::WhenLeft::kGoesOn;
  const engine::Access access = AccessOf(api, request);
  SKERRY_ASSIGN_OR_RETURN(const auto run, CommandOf(access, request));
  SKERRY_ASSIGN_OR_RETURN(auto attached, access.runs().Attach(run->id(), offset, when_left));
  return AttachmentAnswer(api, std::move(attached));
}

}  // namespace

std::vector<http::Route> CommandRoutes(Api& api) {
  const auto route = [&api](const char* method, const std::string& pattern, engine::Need need, ApiHandler handler,
                            http::BodyRule body = http::BodyRule::kNone) {
    return MakeRoute(api, method, "/sessions/{session}/commands" + pattern, need, std::move(handler), body);
  };
  http::Route feed = route("POST", "/{command}/stdin", engine::kToRun, Feed, http::BodyRule::kSmall);
  feed.media.clear();
  return {route("POST", "", engine::kToRun, Start, http::BodyRule::kSmall),
          route("GET", "", engine::kToRead, List),
          route("GET", "/{command}", engine::kToRead, Get),
          route("GET", "/{command}/logs", engine::kToRead, Logs),
          std::move(feed),
          route("POST", "/{command}/signal", engine::kToRun, Signal, http::BodyRule::kSmall),
          route("POST", "/{command}/resize", engine::kToRun, Resize, http::BodyRule::kSmall),
          route("GET", "/{command}/attach", engine::kToRun, AttachTo)};
}

}  // namespace skerry::transport::v1
