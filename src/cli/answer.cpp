#include "cli/answer.hpp"

#include <charconv>
#include <cstdio>

#include "json/base64.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

const Json* Find(const Json& object, const std::string& name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

std::string TextIn(const Json& object, const char* name) {
  const Json* value = Find(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

std::string BytesIn(const Json& object, const char* name) {
  if (const std::string exact = TextIn(object, (std::string(name) + "_base64").c_str()); !exact.empty())
    if (auto bytes = json::FromBase64(exact)) return *std::move(bytes);
  return TextIn(object, name);
}

std::uint64_t NumberIn(const Json& object, const char* name) {
  const Json* value = Find(object, name);
  if (value == nullptr || !value->is_number_integer()) return 0;
  return value->is_number_unsigned() || value->get<std::int64_t>() >= 0 ? value->get<std::uint64_t>() : 0;
}

bool FlagIn(const Json& object, const char* name) {
  const Json* value = Find(object, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const Json& ListIn(const Json& object, const char* name) {
  static const Json kNone = Json::array();
  const Json* value = Find(object, name);
  return value != nullptr && value->is_array() ? *value : kNone;
}

const Json& ObjectIn(const Json& object, const char* name) {
  static const Json kNone = Json::object();
  const Json* value = Find(object, name);
  return value != nullptr && value->is_object() ? *value : kNone;
}

std::optional<core::TimePoint> TimeIn(const Json& object, const char* name) {
  const std::string text = TextIn(object, name);
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  double second = 0;
  constexpr int kParts = 6;
  // NOLINTNEXTLINE(cert-err34-c): what does not fit leaves the wrong number of parts, or a date that is none
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%lfZ", &year, &month, &day, &hour, &minute, &second) != kParts)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!date.ok() || second < 0 || second >= 61) return std::nullopt;
  const auto seconds = std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(second));
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) + seconds;
}

core::FileChange ChangeFrom(const Json& object) {
  constexpr int kOctal = 8;
  core::FileChange change{
      .path = BytesIn(object, "path"),
      .action = core::ParseFileAction(TextIn(object, "action")).value_or(core::FileAction::kChanged),
      .kind = core::ParseFileKind(TextIn(object, "kind")).value_or(core::FileKind::kFile),
      .size = NumberIn(object, "size"),
      .sha256 = TextIn(object, "sha256")};
  const std::string mode = TextIn(object, "mode");
  (void)std::from_chars(mode.data(), mode.data() + mode.size(), change.mode, kOctal);
  return change;
}

std::vector<core::FileChange> ChangesFrom(const Json& array) {
  std::vector<core::FileChange> changes;
  for (const Json& object : array) changes.push_back(ChangeFrom(object));
  return changes;
}

}  // namespace skerry::cli
