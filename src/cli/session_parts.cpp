#include "cli/session_parts.hpp"

#include <utility>
#include <vector>

#include "cli/answer.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "json/text.hpp"

namespace skerry::cli {

using Json = nlohmann::ordered_json;

Argument SessionNameArgument(std::string& name) {
  return {
      .name = "session", .value = Value::Session(), .description = "Its name", .to = &name, .need = Need::kRequired};
}

Json SessionForPeople(Json session) {
  if (NumberIn(session, "running") > 0) session["state"] = "busy";
  const Json usage = ObjectIn(session, "usage");
  session.erase("usage");
  for (const auto& [name, value] : usage.items()) session[name] = value;
  return session;
}

bool PrintIndented(const Json& json) {
  return Print(json::IndentedText(json));
}

std::string FieldsAsTable(const Json& object) {
  std::vector<std::vector<std::string>> table;
  for (const auto& [key, value] : object.items()) {
    if (value.is_null() || (value.is_structured() && value.empty())) continue;
    table.push_back({key, value.is_string() ? value.get<std::string>() : json::Text(value)});
  }
  return AsTable(table);
}

}  // namespace skerry::cli
