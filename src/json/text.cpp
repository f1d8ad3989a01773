#include "json/text.hpp"

#include <nlohmann/json.hpp>

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

}  // namespace skerry::json
