#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "json/execution_json.hpp"
#include "json/text.hpp"

namespace skerry::json {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestText = 2000;
constexpr std::size_t kLongestList = 20;
constexpr std::size_t kMostNames = 10;
constexpr std::size_t kMostNameBytes = 1024;
constexpr std::array kFileLists = {"created", "changed", "deleted", "withheld", "to_review"};

// Texts and lists at any depth.
void Shorten(Json& value) {
  if (auto* text = value.get_ptr<std::string*>(); text != nullptr && text->size() > kLongestText) {
    text->resize(kLongestText);
    *text = base::ToValidUtf8(*text) + "…";
  }
  if (value.is_array() && value.size() > kLongestList)
    value.erase(value.begin() + static_cast<std::ptrdiff_t>(kLongestList), value.end());
  if (value.is_structured())
    for (Json& each : value) Shorten(each);
}

// The first names; true when there were more.
bool CutNames(Json& names) {
  std::size_t count = 0;
  for (std::size_t bytes = 0; count < names.size() && count < kMostNames; ++count) {
    const Json& name = names[count].is_object() ? names[count].value("path", Json("")) : names[count];
    const auto* text = name.get_ptr<const std::string*>();
    bytes += text == nullptr ? 0 : text->size();
    if (bytes > kMostNameBytes) break;
  }
  const bool more = count < names.size();
  names.erase(names.begin() + static_cast<std::ptrdiff_t>(count), names.end());
  return more;
}

void CutFiles(Json& object) {
  Json total = Json::object();
  bool cut = false;
  for (const char* name : kFileLists) {
    const auto found = object.find(std::string("files_") + name);
    const bool there = found != object.end() && found->is_array();
    total[name] = there ? found->size() : 0;
    if (there) cut = CutNames(*found) || cut;
  }
  if (cut && !object.contains("files_total")) object["files_total"] = std::move(total);
}

void CutOutputs(Json& object) {
  const auto found = object.find("outputs");
  if (found == object.end() || !found->is_array() || found->empty()) return;
  object["outputs_total"] = found->size();
  object["outputs"] = Json::array();
}

}  // namespace

std::string SummaryOf(std::string_view result) {
  Json object = Parse(result);
  if (!object.is_object()) return "";
  for (const char* name : {"stdout", "stderr", "stdout_base64", "stderr_base64", "diff"}) object.erase(name);
  CutFiles(object);
  CutOutputs(object);
  Shorten(object);
  return Text(object);
}

}  // namespace skerry::json
