#include "json/execution_json.hpp"

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "json/bytes.hpp"
#include "json/risk_json.hpp"
#include "json/text.hpp"

namespace skerry::json {
namespace {

using Json = nlohmann::ordered_json;

Json TextsToJson(const std::vector<std::string>& texts) {
  Json array = Json::array();
  for (const std::string& text : texts) array.push_back(base::ToValidUtf8(text));
  return array;
}

Json WithheldToJson(const std::vector<core::WithheldFile>& files) {
  Json array = Json::array();
  for (const core::WithheldFile& file : files)
    array.push_back({{"path", base::ToValidUtf8(file.path)}, {"reason", base::ToValidUtf8(file.reason)}});
  return array;
}

// The lists of files, and their totals where the lists are cut.
void AddFiles(Json& object, const core::ExecutionResult& result) {
  object["files_created"] = TextsToJson(result.files_created);
  object["files_changed"] = TextsToJson(result.files_changed);
  object["files_deleted"] = TextsToJson(result.files_deleted);
  object["files_withheld"] = WithheldToJson(result.files_withheld);
  if (!result.files_to_review.empty()) object["files_to_review"] = WithheldToJson(result.files_to_review);
  if (!result.files_total) return;
  const core::FileTotals& total = *result.files_total;
  object["files_total"] = {{"created", total.created},
                           {"changed", total.changed},
                           {"deleted", total.deleted},
                           {"withheld", total.withheld},
                           {"to_review", total.to_review}};
}

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(base::ToValidUtf8(text));
}

// Why the program was ended, else the exception that a cell did not catch.
std::string ErrorLine(const core::ExecutionResult& result) {
  std::string explanation = result.outcome.Explanation();
  if (!explanation.empty() || !result.cell || !result.cell->error) return explanation;
  const core::CellError& error = *result.cell->error;
  return error.name + (error.message.empty() ? "" : ": " + error.message);
}

Json OutputsToJson(const std::vector<core::CellOutput>& outputs) {
  Json array = Json::array();
  for (const core::CellOutput& output : outputs) {
    Json forms = Json::object();
    for (const core::RichData& form : output.forms) forms[base::ToValidUtf8(form.mime)] = base::ToValidUtf8(form.data);
    array.push_back(
        {{"kind", output.kind == core::CellOutput::Kind::kResult ? "result" : "display"}, {"data", std::move(forms)}});
  }
  return array;
}

void AddCell(Json& object, const core::CellDetails& cell) {
  object["error_name"] = TextOrNull(cell.error ? cell.error->name : "");
  object["traceback"] = TextOrNull(cell.error ? cell.error->traceback : "");
  object["outputs"] = OutputsToJson(cell.outputs);
  if (cell.outputs_left_out != 0) object["outputs_total"] = cell.outputs.size() + cell.outputs_left_out;
  object["context"] = cell.context;
  object["language"] = core::NameOf(cell.language);
  object["cell"] = cell.number;
  object["alive"] = cell.alive;
}

Json LimitsToJson(const std::vector<core::LimitReached>& limits) {
  Json array = Json::array();
  for (const core::LimitReached& reached : limits)
    array.push_back({{"name", reached.name}, {"limit", reached.limit}, {"unit", reached.unit}});
  return array;
}

}  // namespace

Json ResultToJson(const core::ExecutionResult& result, Streams streams) {
  Json object;
  object["success"] = result.Success();
  if (streams == Streams::kIncluded) {
    AddBytes(object, "stdout", result.standard_output);
    AddBytes(object, "stderr", result.standard_error);
  }
  object["exit_code"] = result.outcome.exit_code;
  object["error"] = TextOrNull(ErrorLine(result));
  if (result.cell) AddCell(object, *result.cell);
  object["sandbox_type"] = result.sandbox_type.empty() ? Json(nullptr) : Json(result.sandbox_type);
  object["start"] = core::NameOf(result.start);
  object["execution_time_ms"] = result.execution_time.count();
  const auto milliseconds = [](std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; };
  object["timings_ms"] = {{"obtain", milliseconds(result.timings.obtain)},
                          {"run", milliseconds(result.timings.run)},
                          {"finish", milliseconds(result.timings.finish)}};
  AddFiles(object, result);
  object["outcome"] = core::NameOf(result.outcome.kind);
  object["output_truncated"] = result.output_truncated || result.output_removed;
  if (result.output_removed) object["output_removed"] = true;
  object["output_bytes"] = result.output_bytes;
  object["memory_peak_bytes"] = result.memory_peak_bytes;
  if (!result.execution_id.empty()) object["execution_id"] = result.execution_id;
  if (!result.approved_by.empty()) object["approved_by"] = base::ToValidUtf8(result.approved_by);
  if (!result.digest.empty()) object["digest"] = result.digest;
  if (!result.diff.empty()) object["diff"] = base::ToValidUtf8(result.diff);
  object["limits_reached"] = LimitsToJson(result.limits_reached);
  object["degraded"] = TextsToJson(result.degraded);
  object["risk"] = RiskSummaryToJson(result.risk);
  return object;
}

std::string ToJson(const core::ExecutionResult& result) {
  return Text(ResultToJson(result));
}

namespace {

Json ErrorToJson(const base::Error& error, Streams streams) {
  const base::CodeRow& row = base::RowOf(error.code);
  Json object;
  object["success"] = false;
  if (streams == Streams::kIncluded) object.update({{"stdout", ""}, {"stderr", ""}});
  object["exit_code"] = row.exit_code;
  object["error"] = base::ToValidUtf8(error.message);
  object["error_code"] = row.name;
  object["sandbox_type"] = nullptr;
  object["execution_time_ms"] = 0;
  for (const char* name :
       {"files_created", "files_changed", "files_deleted", "files_withheld", "limits_reached", "degraded"})
    object[name] = Json::array();
  return object;
}

}  // namespace

std::string ToJson(const base::Error& error) {
  return Text(ErrorToJson(error, Streams::kIncluded));
}

Json EndToJson(const core::RunEnd& end, const std::string& execution, Streams streams) {
  Json object = end.error ? ErrorToJson(*end.error, streams) : ResultToJson(end.result, streams);
  object["execution_id"] = execution;
  if (end.error) object["outcome"] = end.Outcome();
  return object;
}

}  // namespace skerry::json
