#include "transport/v1/run_json.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "core/session_name.hpp"
#include "json/context_json.hpp"
#include "json/execution_json.hpp"
#include "json/history_json.hpp"
#include "json/text.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kMostOutput = std::size_t{16} << 20U;  // of one answer; the rest is to be had piece by piece

Json TimeOrNull(const std::optional<core::TimePoint>& time) {
  return time ? Json(json::Rfc3339(*time)) : Json(nullptr);
}

Json ResultOrNull(const engine::Run& run) {
  const auto end = run.end();
  if (!end) return nullptr;
  Json result = json::Parse(end->result);
  if (!result.is_object()) return nullptr;
  result.erase("stdout");
  result.erase("stderr");
  return result;
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

void TellRemoved(Json& result) {
  result["output_truncated"] = true;
  result["output_removed"] = true;
}

namespace {

base::Result<std::string> ResultWithStreams(const engine::Run& run, const engine::RunEnd& end) {
  std::string standard_output;
  std::string standard_error;
  SKERRY_ASSIGN_OR_RETURN(engine::OutputReader reader, run.Output(0));
  for (std::size_t total = 0; total < kMostOutput;) {
    SKERRY_ASSIGN_OR_RETURN(const auto pieces, reader.Next(std::size_t{1} << 20U));
    if (pieces.empty()) break;
    for (const engine::OutputPiece& piece : pieces) {
      (piece.stream == core::Stream::kStdout ? standard_output : standard_error) += piece.bytes;
      total += piece.bytes.size();
    }
  }
  const std::size_t read = standard_output.size() + standard_error.size();
  if (read < std::min<std::uint64_t>(run.output_bytes(), kMostOutput)) {
    Json object = json::Parse(end.result);
    if (!object.is_object()) return end.result;
    TellRemoved(object);
    return json::Text(object);
  }
  if (standard_output.empty() && standard_error.empty()) return end.result;
  if (end.output_bytes <= kMostOutput) return json::WithStreams(end.result, standard_output, standard_error);
  Json object = json::Parse(end.result);
  if (object.is_object()) object["output_truncated"] = true;
  return json::WithStreams(json::Text(object), standard_output, standard_error);
}

}  // namespace

base::Result<std::string> WholeResult(const engine::Run& run) {
  const auto end = run.end();
  if (!end) return base::Err(base::Code::kInternal, "the run has not ended");
  if (end->error) return std::unexpected(*end->error);
  return ResultWithStreams(run, *end);
}

base::Result<std::string> WholeExecution(const engine::Access& access, const engine::Run& run) {
  const auto end = run.end();
  Json object = ExecutionToJson(access, run);
  if (!end || !object["result"].is_object()) return json::Text(object);
  // What was written may be large, and is not read again to be put behind the rest.
  SKERRY_ASSIGN_OR_RETURN(const std::string result, ResultWithStreams(run, *end));
  object.erase("result");
  std::string text = json::Text(object);
  text.pop_back();
  return text + ",\"result\":" + result + "}";
}

Json ExitToJson(const engine::RunEnd& end) {
  return {{"exit_code", end.exit_code}, {"outcome", end.outcome}, {"state", core::NameOf(end.state)}};
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
