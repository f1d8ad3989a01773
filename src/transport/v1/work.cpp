#include "transport/v1/work.hpp"

#include <array>
#include <optional>
#include <utility>

#include "engine/views/runs_view.hpp"
#include "transport/kit/event_stream.hpp"
#include "transport/v1/run_json.hpp"
#include "transport/v1/run_stream.hpp"
#include "transport/v1/variables.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kLongestCode = std::size_t{4} << 20U;
constexpr std::size_t kLongestName = 256;
constexpr std::size_t kMostArguments = 4096;
constexpr std::size_t kLongestArgument = 98'304;
constexpr std::size_t kLongestPath = 4096;
constexpr std::uint64_t kMostMemory = 1U << 20U;
constexpr std::uint64_t kMostOutput = 1024;
constexpr std::size_t kLarge = std::size_t{1} << 20U;  // a larger answer does not stay in memory until it is sent

base::Result<http::Response> SpooledAnswer(const engine::Access& access, const http::Request& request,
                                           const std::string& text) {
  SKERRY_ASSIGN_OR_RETURN(engine::ArchiveSpool spool, access.MakeSpool(request.gone));
  SKERRY_RETURN_IF_ERROR(spool.Write(text));
  SKERRY_ASSIGN_OR_RETURN(engine::ArchiveSpool::Whole whole, std::move(spool).Finish());
  http::Response response{.headers = {{"Content-Type", "application/json"}}};
  response.body = http::FileBody{.fd = std::move(whole.file), .length = whole.size, .share = std::move(whole.share)};
  return response;
}

// A turn, of which there are few: a large answer costs several times its size while it is made.
base::Result<std::optional<base::Turns::Turn>> TurnFor(const Api& api, const http::Request& request,
                                                       const engine::Run& run) {
  if (run.output_bytes() <= kLarge) return std::nullopt;
  SKERRY_ASSIGN_OR_RETURN(base::Turns::Turn turn, api.large.Take(request.caller.tenant, request.gone));
  return std::optional(std::move(turn));
}

// Answers with the run's result as text. A large one lies in the spool until it is sent.
base::Result<http::Response> ResultAnswer(const engine::Access& access, const http::Request& request,
                                          const engine::Run& run, std::string text) {
  if (text.size() <= kLarge) return TextAnswer(200, std::move(text), "application/json");
  auto spooled = SpooledAnswer(access, request, text);
  if (spooled) return spooled;
  // When the disk is full, the owner's answer stays in memory. Other clients ask again: the result is kept.
  if (request.caller.owner) return TextAnswer(200, std::move(text), "application/json");
  return base::Err(spooled.error().code, spooled.error().message +
                                             "; the run has ended and its result is kept: GET /v1/executions/" +
                                             run.id() + ", and its output in pieces");
}

}  // namespace

void ReadMaxOutput(json::Fields& fields, engine::NewRun& run) {
  if (const auto output = fields.Number("max_output_mb", 1, kMostOutput)) run.request.max_output_mb = *output;
}

void ReadSurroundings(json::Fields& fields, engine::NewRun& run) {
  core::ExecutionRequest& request = run.request;
  ReadEnvironment(fields, request.environment, request.secrets);
  if (auto directory = fields.Text("directory", kLongestPath)) request.directory = *directory;
  if (request.directory.find('\0') != std::string::npos) fields.Fail("directory", "holds a NUL character");
  ReadMaxOutput(fields, run);
}

void ReadCode(json::Fields& fields, engine::NewRun& run) {
  ReadSurroundings(fields, run);
  core::ExecutionRequest& request = run.request;
  if (auto code = fields.Text("code", kLongestCode)) {
    request.code = *std::move(code);
  } else {
    fields.Fail("code", "is missing");
  }
  if (auto arguments = fields.Texts("arguments", kMostArguments, kLongestArgument))
    request.code_arguments = *std::move(arguments);
  if (auto name = fields.Text("name", kLongestName)) request.code_name = *std::move(name);
  if (const auto language = fields.Text("language", kLongestName)) {
    const auto known = core::ParseLanguage(*language);
    if (known) request.language = *known;
    if (!known) fields.Fail("language", "is not known; use python, javascript or shell");
  }
  if (const auto seconds = fields.Number("timeout", 1, 300)) request.timeout = std::chrono::seconds(*seconds);
  if (auto type = fields.Text("sandbox_type", kLongestName)) request.sandbox_type = *std::move(type);
  if (const auto memory = fields.Number("max_memory_mb", 16, kMostMemory)) request.max_memory_mb = *memory;
  if (auto image = fields.Text("image", kLongestName)) {
    if (image->empty()) fields.Fail("image", "must not be empty");
    request.image = *std::move(image);
  }
  if (fields.Flag("dry_run").value_or(false)) {
    request.carry = core::Carry::kShow;
    if (!run.session) fields.Fail("dry_run", "is for sessions: without one nothing stays");
  }
  if (auto cause = fields.Text("caused_by", kLongestName)) {
    if (cause->empty()) fields.Fail("caused_by", "must not be empty");
    request.caused_by = *std::move(cause);
    if (!run.session) fields.Fail("caused_by", "is for sessions");
  }
  run.input_text = fields.Text("stdin", kLongestCode);
}

void ReadConsent(json::Fields& fields, engine::NewRun& run) {
  if (fields.Flag("approve").value_or(false)) run.consent = engine::Consent::kGiven;
}

void ReadOnDisconnect(json::Fields& fields, engine::NewRun& run) {
  constexpr std::array<std::string_view, 3> kWords = {"continue", "cancel", "kill"};
  const auto word = fields.Word("on_disconnect", kWords);
  if (word && *word != "continue") run.when_left = engine::WhenLeft::kEnds;
}

base::Result<http::Response> Answer(Api& api, const engine::Access& access, const http::Request& request,
                                    engine::NewRun run) {
  run.gone = request.gone;
  const bool events = kit::WantsEvents(request);
  SKERRY_ASSIGN_OR_RETURN(engine::StartedRun started,
                          access.runs().Begin(std::move(run), events ? engine::Place::kBeside : engine::Place::kHere));
  const auto replayed = [&](http::Response response) {
    if (started.replayed) response.headers.Add("Idempotent-Replayed", "true");
    return response;
  };
  if (events) {
    SKERRY_ASSIGN_OR_RETURN(http::Response response, EventsOf(api, request, started.run, 0, std::move(started.leash)));
    return replayed(std::move(response));
  }
  if (!started.run->end())
    return base::Err(base::Code::kTimeout, "the run has not ended yet");  // the client has disconnected
  SKERRY_ASSIGN_OR_RETURN(const auto turn, TurnFor(api, request, *started.run));
  SKERRY_ASSIGN_OR_RETURN(std::string result, WholeResult(*started.run));
  SKERRY_ASSIGN_OR_RETURN(http::Response response,
                          ResultAnswer(access, request, *started.run, std::move(result) + "\n"));
  return replayed(std::move(response));
}

base::Result<http::Response> WholeAnswer(const Api& api, const engine::Access& access, const http::Request& request,
                                         const engine::Run& run) {
  SKERRY_ASSIGN_OR_RETURN(const auto turn, TurnFor(api, request, run));
  SKERRY_ASSIGN_OR_RETURN(std::string whole, WholeExecution(access, run));
  return ResultAnswer(access, request, run, std::move(whole) + "\n");
}

}  // namespace skerry::transport::v1
