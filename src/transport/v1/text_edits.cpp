#include "transport/v1/text_edits.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"

namespace skerry::transport::v1 {
namespace {

using Json = nlohmann::json;
using text::TextEdit;

std::unexpected<base::Error> Wrong(const std::string& what) {
  return base::Err(base::Code::kInvalidArgument, what);
}

base::Status CheckNames(const Json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.items())
    if (std::ranges::find(known, name) == known.end())
      return Wrong("does not know \"" + base::Printable(base::Excerpt(name)) + "\"");
  return {};
}

base::Result<std::string> TextOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return Wrong("needs \"" + std::string(name) + "\", a text");
  return found->get<std::string>();
}

base::Result<std::size_t> CountOf(const Json& object) {
  const auto found = object.find("count");
  if (found == object.end()) return std::size_t{1};
  if (*found == "all") return std::size_t{0};
  if (!found->is_number_unsigned() || *found == 0U)
    return Wrong("needs a \"count\" that is a number from 1, or \"all\"");
  return found->get<std::size_t>();
}

base::Result<TextEdit> ReplaceOf(const Json& object) {
  SKERRY_RETURN_IF_ERROR(CheckNames(object, {"replace", "with", "count"}));
  text::ReplaceText replace;
  SKERRY_ASSIGN_OR_RETURN(replace.old_text, TextOf(object, "replace"));
  SKERRY_ASSIGN_OR_RETURN(replace.new_text, TextOf(object, "with"));
  SKERRY_ASSIGN_OR_RETURN(replace.count, CountOf(object));
  return replace;
}

base::Result<TextEdit> InsertOf(const Json& object) {
  SKERRY_RETURN_IF_ERROR(CheckNames(object, {"insert", "text"}));
  const Json& line = object.at("insert");
  if (!line.is_number_unsigned()) return Wrong("needs a number of a line as \"insert\"");
  text::InsertLines insert{.line = line.get<std::uint64_t>()};
  SKERRY_ASSIGN_OR_RETURN(insert.text, TextOf(object, "text"));
  return insert;
}

base::Result<TextEdit> EditOf(const Json& object) {
  const bool replaces = object.is_object() && object.contains("replace");
  const bool inserts = object.is_object() && object.contains("insert");
  if (replaces == inserts) return Wrong("has to be an object with \"replace\" or with \"insert\"");
  return replaces ? ReplaceOf(object) : InsertOf(object);
}

}  // namespace

base::Result<std::vector<TextEdit>> EditsOf(const Json& array) {
  if (!array.is_array() || array.empty())
    return Wrong("edits must be an array like [{\"replace\": \"old\", \"with\": \"new\"}]");
  std::vector<TextEdit> edits;
  for (const Json& object : array) {
    auto edit = EditOf(object);
    if (!edit) return Wrong("edit " + std::to_string(edits.size() + 1) + ": " + edit.error().message);
    edits.push_back(std::move(*edit));
  }
  return edits;
}

}  // namespace skerry::transport::v1
