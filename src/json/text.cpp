#include "json/text.hpp"

#include <nlohmann/json.hpp>

#include "base/printable.hpp"

namespace skerry::json {
namespace {

template <class Json>
std::string Write(const Json& value, int indent) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace

std::string Text(const nlohmann::ordered_json& value) {
  return Write(value, -1);
}

std::string Text(const nlohmann::json& value) {
  return Write(value, -1);
}

std::string IndentedText(const nlohmann::ordered_json& value) {
  return Write(value, 2) + "\n";
}

nlohmann::ordered_json Parse(std::string_view text) {
  return nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
}

base::Result<nlohmann::ordered_json> ParseOrTell(std::string_view text) {
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::ordered_json::exception& problem) {
    std::string_view what = problem.what();
    what.remove_prefix(what.find("] ") == std::string_view::npos ? 0 : what.find("] ") + 2);  // the library's number
    return base::Err(base::Code::kInvalidArgument, "not JSON: " + base::Printable(what));
  }
}

}  // namespace skerry::json
