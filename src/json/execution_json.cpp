#include "json/execution_json.hpp"

#include <cstdint>
#include <functional>
#include <span>

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

// As many from the beginning as the bounds let through.
template <class T, class Path>
std::span<const T> Within(const std::vector<T>& all, const ListBounds& bounds, const Path& path) {
  std::size_t count = 0;
  for (std::size_t bytes = 0; count < all.size() && count < bounds.names && bytes < bounds.bytes; ++count)
    bytes += path(all[count]).size();
  return std::span(all).first(count);
}

// The lists of files, and how many there are where they do not have all.
void AddFiles(Json& object, const core::ExecutionResult& result, const ListBounds& bounds) {
  bool cut = false;
  const auto names = [&](const std::vector<std::string>& files) {
    const auto kept = Within(files, bounds, std::identity());
    cut = cut || kept.size() < files.size();
    Json array = Json::array();
    for (const std::string& name : kept) array.push_back(base::ToValidUtf8(name));
    return array;
  };
  object["files_created"] = names(result.files_created);
  object["files_changed"] = names(result.files_changed);
  object["files_deleted"] = names(result.files_deleted);
  const auto reasons = [&](const std::vector<core::WithheldFile>& files) {
    const auto kept = Within(files, bounds, std::mem_fn(&core::WithheldFile::path));
    cut = cut || kept.size() < files.size();
    Json array = Json::array();
    for (const core::WithheldFile& file : kept)
      array.push_back({{"path", base::ToValidUtf8(file.path)}, {"reason", base::ToValidUtf8(file.reason)}});
    return array;
  };
  object["files_withheld"] = reasons(result.files_withheld);
  if (!result.files_to_review.empty()) object["files_to_review"] = reasons(result.files_to_review);
  if (!cut) return;
  object["files_total"] = {{"created", result.files_created.size()},
                           {"changed", result.files_changed.size()},
                           {"deleted", result.files_deleted.size()},
                           {"withheld", result.files_withheld.size()},
                           {"to_review", result.files_to_review.size()}};
}

Json LimitsToJson(const std::vector<core::LimitReached>& limits) {
  Json array = Json::array();
  for (const core::LimitReached& reached : limits)
    array.push_back({{"name", reached.name}, {"limit", reached.limit}, {"unit", reached.unit}});
  return array;
}

}  // namespace

std::string Base64(std::string_view bytes) {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = (group << 8U) | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += at + i <= bytes.size() ? kAlphabet[(group >> (18U - 6U * i)) & 63U] : '=';
  }
  return text;
}

std::string ToJson(const core::ExecutionResult& result, const ListBounds& lists) {
  Json object;
  object["success"] = result.Success();
  AddBytes(object, "stdout", result.standard_output);
  AddBytes(object, "stderr", result.standard_error);
  object["exit_code"] = result.outcome.exit_code;
  const std::string explanation = result.outcome.Explanation();
  object["error"] = explanation.empty() ? Json(nullptr) : Json(base::ToValidUtf8(explanation));
  object["sandbox_type"] = result.sandbox_type.empty() ? Json(nullptr) : Json(result.sandbox_type);
  object["start"] = core::NameOf(result.start);
  object["execution_time_ms"] = result.execution_time.count();
  const auto milliseconds = [](std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; };
  object["timings_ms"] = {{"obtain", milliseconds(result.timings.obtain)},
                          {"run", milliseconds(result.timings.run)},
                          {"finish", milliseconds(result.timings.finish)}};
  AddFiles(object, result, lists);
  object["outcome"] = core::NameOf(result.outcome.kind);
  object["output_truncated"] = result.output_truncated;
  object["output_bytes"] = result.output_bytes;
  object["memory_peak_bytes"] = result.memory_peak_bytes;
  if (!result.execution_id.empty()) object["execution_id"] = result.execution_id;
  if (!result.approved_by.empty()) object["approved_by"] = base::ToValidUtf8(result.approved_by);
  if (!result.diff.empty()) object["diff"] = base::ToValidUtf8(result.diff);
  object["limits_reached"] = LimitsToJson(result.limits_reached);
  object["degraded"] = TextsToJson(result.degraded);
  object["risk"] = RiskSummaryToJson(result.risk);
  return Text(object);
}

std::string ToJson(const base::Error& error) {
  const base::CodeRow& row = base::RowOf(error.code);
  Json object;
  object["success"] = false;
  object["stdout"] = "";
  object["stderr"] = "";
  object["exit_code"] = row.exit_code;
  object["error"] = base::ToValidUtf8(error.message);
  object["error_code"] = row.name;
  object["sandbox_type"] = nullptr;
  object["execution_time_ms"] = 0;
  for (const char* name :
       {"files_created", "files_changed", "files_deleted", "files_withheld", "limits_reached", "degraded"})
    object[name] = Json::array();
  return Text(object);
}

}  // namespace skerry::json
