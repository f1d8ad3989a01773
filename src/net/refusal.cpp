#include "net/refusal.hpp"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "net/json_lines.hpp"

namespace skerry::net {
namespace {

using Json = nlohmann::json;

std::string TextOf(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

base::Code CodeOf(int status, const std::string& name) {
  const auto rows = base::CodeTable();
  const auto by_name = std::ranges::find(rows, name, &base::CodeRow::name);
  if (by_name != rows.end()) return by_name->code;
  const auto by_status = std::ranges::find(rows, status, &base::CodeRow::http_status);
  if (by_status != rows.end()) return by_status->code;
  constexpr int kGone = 410;
  constexpr int kServerErrors = 500;
  if (status == kGone) return base::Code::kNotFound;
  return status >= kServerErrors ? base::Code::kInternal : base::Code::kInvalidArgument;
}

}  // namespace

base::Error ErrorOf(int status, std::string_view body, std::string_view whom) {
  const Json object = ParseJson(body);
  std::string message = base::Printable(TextOf(object, "message"));
  if (message.empty()) message = "the " + std::string(whom) + " refused with status " + std::to_string(status);
  return {.code = CodeOf(status, TextOf(object, "code")), .message = std::move(message)};
}

}  // namespace skerry::net
