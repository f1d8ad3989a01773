#include "transport/v1/run_json.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "core/session_name.hpp"
#include "engine/views/runs_view.hpp"
#include "json/base64.hpp"
#include "json/execution_json.hpp"
#include "json/history_json.hpp"
#include "json/text.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kMostOutput = std::size_t{16} << 20U;  // of one answer; a client gets the rest piece by piece

Json TimeOrNull(const std::optional<core::TimePoint>& time) {
  return time ? Json(json::Rfc3339(*time)) : Json(nullptr);
}

Json ResultOrNull(const engine::Run& run) {
  const auto end = run.end();
  return end ? json::EndToJson(*end, run.id(), json::Streams::kLeftOut) : Json(nullptr);
}

}  // namespace

Json ExecutionToJson(const engine::Access& access, const engine::Run& run) {
  const core::RunRecord& record = run.record();
  return {{"id", record.id},
          {"session_id", record.session.empty() ? Json(nullptr) : Json(core::NameOfSession(record.session))},
          {"kind", record.kind},
          {"state", core::NameOf(run.state())},
          {"language", record.language.empty() ? Json(nullptr) : Json(record.language)},
          {"what", base::ToValidUtf8(record.what)},
          {"created_at", json::Rfc3339(record.created_at)},
          {"ended_at", TimeOrNull(run.ended_at())},
          {"output_bytes", run.output_bytes()},
          {"approval", WaitingFor(access, run).value_or(Json(nullptr))},
          {"result", ResultOrNull(run)}};
}

namespace {

// What the run wrote, as far as one answer holds it.
base::Status ReadStreams(const engine::Run& run, core::ExecutionResult& result) {
  SKERRY_ASSIGN_OR_RETURN(engine::OutputReader reader, run.Output(0));
  std::size_t total = 0;
  while (total < kMostOutput) {
    SKERRY_ASSIGN_OR_RETURN(const auto pieces, reader.Next(std::size_t{1} << 20U));
    if (pieces.empty()) break;
    for (const engine::OutputPiece& piece : pieces) {
      (piece.stream == core::Stream::kStdout ? result.standard_output : result.standard_error) += piece.bytes;
      total += piece.bytes.size();
    }
  }
  const std::uint64_t written = run.output_bytes();
  if (written > kMostOutput) result.output_truncated = true;
  if (total >= std::min<std::uint64_t>(written, kMostOutput)) return {};
  // Some output was removed to make room: what was read is not all of it.
  result.output_removed = true;
  result.standard_output.clear();
  result.standard_error.clear();
  return {};
}

base::Result<Json> ResultWithStreams(const engine::Run& run, const engine::RunEnd& end) {
  if (end.error) return json::EndToJson(end, run.id());
  engine::RunEnd whole = end;
  SKERRY_RETURN_IF_ERROR(ReadStreams(run, whole.result));
  return json::EndToJson(whole, run.id());
}

}  // namespace

base::Result<std::string> WholeResult(const engine::Run& run) {
  const auto end = run.end();
  if (!end) return base::Err(base::Code::kInternal, "the run has not ended");
  if (end->error) return std::unexpected(*end->error);
  SKERRY_ASSIGN_OR_RETURN(const Json result, ResultWithStreams(run, *end));
  return json::Text(result);
}

base::Result<std::string> WholeExecution(const engine::Access& access, const engine::Run& run) {
  const auto end = run.end();
  Json object = ExecutionToJson(access, run);
  if (!end) return json::Text(object);
  SKERRY_ASSIGN_OR_RETURN(object["result"], ResultWithStreams(run, *end));
  return json::Text(object);
}

Json ExitToJson(const engine::RunEnd& end) {
  return {{"exit_code", end.ExitCode()}, {"outcome", end.Outcome()}, {"state", core::NameOf(end.state)}};
}

Json PieceToJson(const engine::OutputPiece& piece) {
  Json object = {{"stream", piece.stream == core::Stream::kStdout ? "stdout" : "stderr"},
                 {"offset", piece.offset},
                 {"text", base::ToValidUtf8(piece.bytes)}};
  if (!base::IsValidUtf8(piece.bytes)) object["base64"] = json::Base64(piece.bytes);
  return object;
}

std::int64_t RemainingSeconds(core::TimePoint expires) {
  const auto left = expires - std::chrono::system_clock::now();
  return std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(left).count(), 0);
}

std::optional<Json> WaitingFor(const engine::Access& access, const engine::Run& run) {
  const auto question = access.runs().QuestionOf(run);
  if (!question || !*question) return std::nullopt;
  return Json{{"approval_id", (*question)->approval},
              {"digest", (*question)->digest},
              {"expires_at", json::Rfc3339((*question)->expires)},
              {"remaining_seconds", RemainingSeconds((*question)->expires)}};
}

}  // namespace skerry::transport::v1
