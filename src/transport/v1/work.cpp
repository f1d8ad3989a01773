#include "transport/v1/work.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "transport/kit/event_stream.hpp"
#include "transport/v1/run_json.hpp"
#include "transport/v1/run_stream.hpp"
#include "transport/v1/variables.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kLongestCode = std::size_t{4} << 20U;
constexpr std::size_t kLongestName = 256;
constexpr std::size_t kLongestPath = 4096;
constexpr std::uint64_t kMostMemory = 1U << 20U;
constexpr std::uint64_t kMostOutput = 1024;
constexpr std::size_t kLarge = std::size_t{1} << 20U;  // an answer that does not stay in memory until it is sent

base::Result<http::Response> SpooledAnswer(const Api& api, const http::Request& request, const std::string& text) {
  SKERRY_ASSIGN_OR_RETURN(engine::ArchiveSpool spool, AccessOf(api, request).MakeSpool(request.gone));
  SKERRY_RETURN_IF_ERROR(spool.Write(text));
  SKERRY_ASSIGN_OR_RETURN(engine::ArchiveSpool::Whole whole, std::move(spool).Finish());
  http::Response response{.headers = {{"Content-Type", "application/json"}}};
  response.body = http::FileBody{.fd = std::move(whole.file), .length = whole.size, .share = std::move(whole.share)};
  return response;
}

// Few at a time: a large answer costs several times its size while it is made.
base::Result<std::optional<base::Turns::Turn>> TurnFor(const Api& api, const http::Request& request,
                                                       const engine::Run& run) {
  if (run.output_bytes() <= kLarge) return std::nullopt;
  SKERRY_ASSIGN_OR_RETURN(base::Turns::Turn turn, api.large.Take(request.caller.tenant, request.gone));
  return std::optional(std::move(turn));
}

// What is kept of a run, as text. A large one lies in the spool until it is sent.
base::Result<http::Response> ResultAnswer(const Api& api, const http::Request& request, const engine::Run& run,
                                          std::string text) {
  if (text.size() <= kLarge) return TextAnswer(200, std::move(text), "application/json");
  auto spooled = SpooledAnswer(api, request, text);
  if (spooled) return spooled;
  // For the owner it stays in memory where the disk is full. Others ask for it again: it is kept.
  if (request.caller.owner) return TextAnswer(200, std::move(text), "application/json");
  return base::Err(spooled.error().code, spooled.error().message +
                                             "; the run has ended and its result is kept: GET /v1/executions/" +
                                             run.id() + ", and its output in pieces");
}

std::uint64_t MostOutput(const Api& api, const http::Request& request) {
  return HasScope(request, core::TokenScope::kAdmin) ? kMostOutput : api.host.options().max_output_mb;
}

}  // namespace

base::Status ReadSurroundings(const Api& api, const http::Request& asked, json::Fields& fields,
                              const engine::SessionSettings& settings, engine::Work& work) {
  core::ExecutionRequest& request = work.request;
  request.max_memory_mb = settings.limits.memory_mb;
  request.image = settings.image;
  if (auto variables = ReadVariables(fields)) request.environment = *std::move(variables);
  if (auto directory = fields.Text("directory", kLongestPath)) request.directory = *directory;
  if (request.directory.find('\0') != std::string::npos) fields.Fail("directory", "holds a NUL character");
  request.max_output_mb = api.host.options().max_output_mb;
  if (const auto output = fields.Number("max_output_mb", 1, kMostOutput))
    request.max_output_mb = std::min(*output, MostOutput(api, asked));
  return {};
}

base::Status ReadCode(const Api& api, const http::Request& asked, json::Fields& fields,
                      const engine::SessionSettings& settings, engine::Work& work) {
  SKERRY_RETURN_IF_ERROR(ReadSurroundings(api, asked, fields, settings, work));
  core::ExecutionRequest& request = work.request;
  request.timeout = settings.timeout;
  if (auto code = fields.Text("code", kLongestCode)) {
    request.code = *std::move(code);
  } else {
    fields.Fail("code", "is missing");
  }
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
    if (!work.session) fields.Fail("dry_run", "is for sessions: without one nothing stays");
  }
  if (auto cause = fields.Text("caused_by", kLongestName)) {
    if (cause->empty()) fields.Fail("caused_by", "must not be empty");
    request.caused_by = *std::move(cause);
    if (!work.session) fields.Fail("caused_by", "is for sessions");
  }
  work.input_text = fields.Text("stdin", kLongestCode);
  return {};
}

base::Status ReadConsent(json::Fields& fields, const http::Request& request, engine::Consent& consent) {
  if (!fields.Flag("approve").value_or(false)) return {};
  if (!HasScope(request, core::TokenScope::kApprove))
    return base::Err(base::Code::kPermissionDenied, "to approve needs the scope approve");
  consent = engine::Consent::kGiven;
  return {};
}

OnDisconnect ReadOnDisconnect(json::Fields& fields) {
  constexpr std::array<std::string_view, 3> kWords = {"continue", "cancel", "kill"};
  const auto word = fields.Word("on_disconnect", kWords);
  return !word || *word == "continue" ? OnDisconnect::kContinue : OnDisconnect::kCancel;
}

base::Result<http::Response> AnswerBegun(Api& api, const http::Request& request, const engine::Begun& begun,
                                         OnDisconnect on_disconnect) {
  const auto replayed = [&](http::Response response) {
    if (begun.replayed) response.headers.Add("Idempotent-Replayed", "true");
    return response;
  };
  if (kit::WantsEvents(request)) {
    SKERRY_ASSIGN_OR_RETURN(http::Response response, EventsOf(api, request, begun.run, 0, on_disconnect));
    return replayed(std::move(response));
  }
  if (!begun.run->end())
    return base::Err(base::Code::kTimeout, "the run has not ended yet");  // nobody listens any more
  SKERRY_ASSIGN_OR_RETURN(const auto turn, TurnFor(api, request, *begun.run));
  SKERRY_ASSIGN_OR_RETURN(std::string result, WholeResult(*begun.run));
  SKERRY_ASSIGN_OR_RETURN(http::Response response, ResultAnswer(api, request, *begun.run, std::move(result) + "\n"));
  return replayed(std::move(response));
}

base::Result<http::Response> WholeAnswer(const Api& api, const http::Request& request, const engine::Run& run) {
  SKERRY_ASSIGN_OR_RETURN(const auto turn, TurnFor(api, request, run));
  SKERRY_ASSIGN_OR_RETURN(std::string whole, WholeExecution(api, run));
  return ResultAnswer(api, request, run, std::move(whole) + "\n");
}

base::Result<http::Response> Answer(Api& api, const http::Request& request, engine::Work work,
                                    OnDisconnect on_disconnect) {
  work.gone = request.gone;
  if (on_disconnect == OnDisconnect::kCancel) work.cancel = request.gone;
  const auto place = kit::WantsEvents(request) ? engine::Place::kBeside : engine::Place::kHere;
  SKERRY_ASSIGN_OR_RETURN(const engine::Begun begun, api.host.Execute(PrincipalOf(request), std::move(work), place));
  return AnswerBegun(api, request, begun, on_disconnect);
}

}  // namespace skerry::transport::v1
