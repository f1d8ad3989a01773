// Commands: programs in a session, in the background or not, with a terminal or not.
#include <array>
#include <utility>

#include "transport/v1/api.hpp"
#include "transport/v1/attachment.hpp"
#include "transport/v1/output.hpp"
#include "transport/v1/run_json.hpp"
#include "transport/v1/signals.hpp"
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
  engine::Work work;
  bool background = false;
  OnDisconnect on_disconnect = OnDisconnect::kContinue;
};

base::Result<CommandOrder> ReadCommand(const Api& api, const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(auto session, SessionOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  CommandOrder order{.work = {.session = std::move(session), .kind = "command"}};
  engine::Work& work = order.work;
  SKERRY_RETURN_IF_ERROR(ReadSurroundings(api, request, fields, work.session->settings(), work));
  ReadProgram(fields, work.request);
  order.background = fields.Flag("background").value_or(false);
  work.request.longest = kLongest;
  work.request.timeout = order.background ? kLongest : std::chrono::seconds(300);
  if (const auto seconds = fields.Number("timeout", 1, static_cast<std::uint64_t>(kLongest.count())))
    work.request.timeout = std::chrono::seconds(*seconds);
  work.terminal = ReadTerminal(fields);
  const bool open = fields.Flag("stdin").value_or(false) || work.terminal;
  work.input = open ? engine::Input::kPipe : engine::Input::kNone;
  SKERRY_RETURN_IF_ERROR(ReadConsent(fields, request, work.consent));
  order.on_disconnect = ReadOnDisconnect(fields);
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_ASSIGN_OR_RETURN(work.claim, ClaimOf(request));
  return order;
}

base::Result<http::Response> Start(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(CommandOrder order, ReadCommand(api, request));
  if (!order.background) return Answer(api, request, std::move(order.work), order.on_disconnect);
  SKERRY_ASSIGN_OR_RETURN(const engine::Begun begun,
                          api.host.Execute(PrincipalOf(request), std::move(order.work), engine::Place::kBeside));
  if (order.on_disconnect == OnDisconnect::kCancel) begun.run->EndUnattended();
  http::Response response = JsonAnswer(begun.replayed ? 200 : 201, ExecutionToJson(api, *begun.run));
  if (begun.replayed) response.headers.Add("Idempotent-Replayed", "true");
  return response;
}

// Only those of the session that the path names.
base::Result<std::shared_ptr<engine::Run>> CommandOf(const Api& api, const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(auto run, api.host.FindRun(PrincipalOf(request), request.parameters.at("command")));
  if (run->record().session == session->id() && run->record().kind == "command") return run;
  return base::Err(base::Code::kNotFound, "there is no command " + request.parameters.at("command").substr(0, 64));
}

base::Result<http::Response> List(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"cursor", "limit"}));
  SKERRY_ASSIGN_OR_RETURN(const auto session, SessionOf(api, request));
  return PageOfRuns(api, request, {.session = session->id(), .kind = "command"});
}

base::Result<http::Response> Get(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto run, CommandOf(api, request));
  return WholeAnswer(api, request, *run);
}

base::Result<http::Response> Logs(Api& api, const http::Request& request) {
  SKERRY_ASSIGN_OR_RETURN(const auto run, CommandOf(api, request));
  return OutputAnswer(api, request, *run);
}

base::Result<http::Response> Feed(Api& api, const http::Request& request) {
  constexpr std::array<std::string_view, 2> kFlags = {"true", "false"};
  constexpr auto kPatience = std::chrono::seconds(30);
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"end"}));
  SKERRY_ASSIGN_OR_RETURN(const std::string end, WordOf(request, "end", kFlags, "false"));
  SKERRY_ASSIGN_OR_RETURN(const auto run, CommandOf(api, request));
  const auto deadline = base::Deadline::After(kPatience);
  for (std::string_view rest = request.body.bytes; !rest.empty();) {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t taken, run->Feed(rest));
    rest.remove_prefix(taken);
    if (!rest.empty() && !run->AwaitRoom(deadline))
      return base::Err(base::Code::kTimeout,
                       "the command does not read its input: " + std::to_string(rest.size()) + " bytes were not taken");
  }
  if (end == "true") SKERRY_RETURN_IF_ERROR(run->EndInput());
  return kit::NoContent();
}

base::Result<http::Response> Signal(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto run, CommandOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto number = SignalNumber(fields.Text("signal", 32).value_or(""));
  if (!number) fields.Fail("signal", "must be one of INT, TERM, KILL, HUP, QUIT, USR1, USR2, WINCH, STOP, CONT");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_RETURN_IF_ERROR(run->Signal(*number));
  return kit::NoContent();
}

base::Result<http::Response> Resize(Api& api, const http::Request& request) {
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {}));
  SKERRY_ASSIGN_OR_RETURN(const auto run, CommandOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(const nlohmann::json body, kit::JsonBodyOf(request));
  json::Fields fields(body);
  const auto rows = fields.Number("rows", 1, 1000);
  const auto columns = fields.Number("columns", 1, 1000);
  if (!rows || !columns) fields.Fail("rows", "and columns are needed");
  SKERRY_RETURN_IF_ERROR(fields.Finish());
  SKERRY_RETURN_IF_ERROR(run->Resize({.rows = *rows, .columns = *columns}));
  return kit::NoContent();
}

base::Result<http::Response> AttachTo(Api& api, const http::Request& request) {
  constexpr std::array<std::string_view, 2> kWords = {"continue", "kill"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"offset", "on_disconnect"}));
  SKERRY_ASSIGN_OR_RETURN(auto run, CommandOf(api, request));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t offset, OffsetOf(request));
  SKERRY_ASSIGN_OR_RETURN(const std::string word, WordOf(request, "on_disconnect", kWords, "continue"));
  return Attach(api, request, std::move(run), offset, word == "kill" ? OnDisconnect::kCancel : OnDisconnect::kContinue);
}

}  // namespace

std::vector<http::Route> CommandRoutes(Api& api) {
  const auto route = [&api](const char* method, const std::string& pattern, std::uint32_t scopes,
                            const Audited& audited, ApiHandler handler, http::BodyRule body = http::BodyRule::kNone) {
    return MakeRoute(api, method, "/sessions/{session}/commands" + pattern, scopes, audited, std::move(handler), body);
  };
  using enum Audited::How;
  // Its hash is told with that of all input: a little can be guessed from a hash of its own.
  const Audited fed{.how = kFirst, .event = "run.fed", .query = {"end"}, .content = Audited::Content::kCounted};
  http::Route feed = route("POST", "/{command}/stdin", kRunScope, fed, Feed, http::BodyRule::kSmall);
  feed.media.clear();
  return {route("POST", "", kRunScope, kRunBegins, Start, http::BodyRule::kSmall),
          route("GET", "", kReadScope, kUnrecorded, List),
          route("GET", "/{command}", kReadScope, kUnrecorded, Get),
          route("GET", "/{command}/logs", kReadScope, kUnrecorded, Logs),
          std::move(feed),
          route("POST", "/{command}/signal", kRunScope,
                {.how = kAnyway, .event = "run.signalled", .fields = {"signal"}}, Signal, http::BodyRule::kSmall),
          route("POST", "/{command}/resize", kRunScope, kUnrecorded, Resize, http::BodyRule::kSmall),
          route("GET", "/{command}/attach", kRunScope,
                {.how = kFirst, .event = "run.attached", .query = {"on_disconnect"}}, AttachTo)};
}

}  // namespace skerry::transport::v1
