#include "json/context_json.hpp"

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "json/bytes.hpp"
#include "json/execution_json.hpp"
#include "json/text.hpp"

namespace skerry::json {
namespace {

using Json = nlohmann::ordered_json;

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

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(base::ToValidUtf8(text));
}

// What ended it, else what nobody caught.
std::string ErrorLine(const core::CellResult& result) {
  std::string explanation = result.outcome.Explanation();
  if (!explanation.empty()) return explanation;
  if (!result.error) return {};
  return result.error->name + (result.error->message.empty() ? "" : ": " + result.error->message);
}

int DigitOf(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

std::string ToJson(const CellReport& report) {
  const core::CellResult& result = report.result;
  const bool exited = result.outcome.kind == core::OutcomeKind::kExited;
  Json object;
  object["success"] = exited && result.outcome.exit_code == 0 && result.alive;
  AddBytes(object, "stdout", report.standard_output);
  AddBytes(object, "stderr", report.standard_error);
  object["exit_code"] = result.outcome.exit_code;
  object["error"] = TextOrNull(ErrorLine(result));
  object["error_name"] = TextOrNull(result.error ? result.error->name : "");
  object["traceback"] = TextOrNull(result.error ? result.error->traceback : "");
  object["outputs"] = OutputsToJson(result.outputs);
  object["context"] = report.context;
  object["language"] = core::NameOf(report.language);
  object["cell"] = report.cell;
  object["alive"] = result.alive;
  object["start"] = core::NameOf(report.start);
  object["execution_time_ms"] = report.execution_time.count();
  object["outcome"] = core::NameOf(result.outcome.kind);
  object["output_truncated"] = result.output_truncated;
  object["output_bytes"] = result.output_bytes;
  object["degraded"] = Json::array();
  for (const std::string& line : report.degraded) object["degraded"].push_back(base::ToValidUtf8(line));
  return Text(object);
}

std::string WithStreams(const std::string& report, const std::string& standard_output,
                        const std::string& standard_error) {
  const Json given = Parse(report);
  if (!given.is_object()) return report;
  // An object keeps the order in which its names were set: the streams stay where they were.
  Json object;
  for (const auto& [name, value] : given.items()) {
    if (name == "stdout") {
      AddBytes(object, name, standard_output);
    } else if (name == "stderr") {
      AddBytes(object, name, standard_error);
    } else if (name != "stdout_base64" && name != "stderr_base64") {
      object[name] = value;
    }
  }
  return Text(object);
}

std::optional<std::string> FromBase64(std::string_view text) {
  while (!text.empty() && (text.back() == '=' || text.back() == '\n')) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const int digit = DigitOf(c);
    if (digit < 0) return std::nullopt;
    group = (group << 6U) | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>((group >> bits) & 0xFFU);
  }
  // A single digit at the end holds no whole byte.
  return bits == 6 ? std::nullopt : std::optional(std::move(bytes));
}

}  // namespace skerry::json
