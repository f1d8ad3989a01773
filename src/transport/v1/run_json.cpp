#include "transport/v1/run_json.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "core/session_name.hpp"
#include "json/base64.hpp"
#include "json/execution_json.hpp"
#include "json/history_json.hpp"
#include "json/text.hpp"
#include "transport/v1/variables.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::size_t kMostOutput = std::size_t{16} << 20U;  // of one answer; the rest is to be had piece by piece

Json TimeOrNull(const std::optional<core::TimePoint>& time) {
  return time ? Json(json::Rfc3339(*time)) : Json(nullptr);
}

Json ResultOrNull(const engine::Run& run) {
  const auto end = run.end();
  return end ? json::EndToJson(*end, run.id(), json::Streams::kLeftOut) : Json(nullptr);
}

}  // namespace

Json ExecutionToJson(const Api& api, const engine::Run& run) {
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
          {"approval", WaitingFor(api, run).value_or(Json(nullptr))},
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
  // Output that was there went to make room: what was read of it is not all.
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

base::Result<std::string> WholeExecution(const Api& api, const engine::Run& run) {
  const auto end = run.end();
  Json object = ExecutionToJson(api, run);
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

Json SessionToJson(const Api& api, const http::Request& request, const engine::HostedSession& session) {
  const engine::SessionSettings& settings = session.settings();
  const core::HostedSessionRecord record = session.record(false);
  const auto unused = std::chrono::steady_clock::now() - session.life().LastUse();
  const auto used_at =
      std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::system_clock::duration>(unused);
  return {{"id", session.name()},
          {"unique_id", record.id},
          {"state", engine::NameOf(session.condition())},
          {"mode", engine::NameOf(settings.mode)},
          {"backend", settings.backend},
          {"image", settings.image ? Json(*settings.image) : Json(nullptr)},
          {"limits",
           {{"memory_mb", settings.limits.memory_mb},
            {"pids", settings.limits.pids},
            {"cpu_percent", settings.limits.cpu_percent},
            {"disk_mb", settings.limits.disk_mb},
            {"timeout_seconds", settings.timeout.count()}}},
          {"network", {{"allowed_domains", Json::array()}}},
          {"environment", VariablesToJson(settings.environment, request)},
          {"metadata", settings.metadata},
          {"idle_seconds", settings.idle.count()},
          {"created_at", json::Rfc3339(record.created_at)},
          {"used_at", json::Rfc3339(used_at)},
          {"expires_at", TimeOrNull(record.expires_at)},
          {"running", api.host.CountRuns(record.id)},
          {"tenant", record.tenant}};
}

std::int64_t RemainingSeconds(const confirm::Approval& approval) {
  const auto left = approval.expires - std::chrono::system_clock::now();
  return std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(left).count(), 0);
}

std::optional<Json> WaitingFor(const Api& api, const engine::Run& run) {
  if (run.state() != core::RunState::kWaiting) return std::nullopt;
  for (const auto& approval : api.host.approvals().List())
    if (approval->question.execution == run.id())
      return Json{{"approval_id", approval->id},
                  {"digest", approval->question.digest},
                  {"expires_at", json::Rfc3339(approval->expires)},
                  {"remaining_seconds", RemainingSeconds(*approval)}};
  return std::nullopt;
}

}  // namespace skerry::transport::v1
