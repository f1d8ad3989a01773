#include "config/check.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include <re2/re2.h>

#include "base/printable.hpp"
#include "base/spelling.hpp"
#include "config/document.hpp"

namespace skerry::config {
namespace {

// Above this a double no longer holds every integer.
constexpr double kExactIntegers = 9007199254740992.0;

std::string Shown(const Node& node, const Json& value) {
  if (value.is_structured()) return value.is_object() ? "an object" : "a list";
  if (node.is_secret) return "the value (not shown)";
  return base::Excerpt(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string Range(const Node& node) {
  return "allowed is " + std::to_string(node.minimum) + " to " + std::to_string(node.maximum);
}

std::unexpected<base::Error> OutOfRange(const Node& node, std::string_view shown) {
  return Refused(node.path, std::string(shown) + " is out of range, " + Range(node));
}

bool IsWhole(const Json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>();
}

bool IsInside(const Node& node, const Json& value) {
  if (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>())) return false;
  if (value.is_number_float() && std::abs(value.get<double>()) > kExactIntegers) return false;
  const auto number = value.get<std::int64_t>();
  return number >= node.minimum && number <= node.maximum;
}

base::Result<Json> CheckInteger(const Node& node, const Json& value) {
  if (!IsWhole(value)) return Refused(node.path, Shown(node, value) + " is not an integer, " + Range(node));
  if (!IsInside(node, value)) return OutOfRange(node, Shown(node, value));
  return Json(value.get<std::int64_t>());
}

base::Result<Json> CheckBoolean(const Node& node, const Json& value) {
  if (value.is_boolean()) return value;
  return Refused(node.path, Shown(node, value) + " is not a boolean, allowed are: true, false");
}

std::size_t CharacterCount(std::string_view text) {
  const auto starts_character = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

// By bytes: a text from a variable need not be UTF-8, and what is forbidden is found in it all the same.
bool Matches(const std::string& text, const std::string& pattern) {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  return re2::RE2::PartialMatch(text, re2::RE2(pattern, options));
}

// What is wrong with the text, empty when nothing is.
std::string ProblemOf(const TextRule& rule, const std::string& text) {
  const std::size_t length = CharacterCount(text);
  if (length < rule.min_length || length > rule.max_length)
    return "has " + std::to_string(length) + " characters, allowed are " + std::to_string(rule.min_length) + " to " +
           std::to_string(rule.max_length);
  if (!rule.choices.empty() && std::ranges::find(rule.choices, text) == rule.choices.end())
    return "is not allowed" + base::DidYouMean(text, rule.choices) + ", allowed are: " + base::Joined(rule.choices);
  if (!rule.pattern.empty() && !Matches(text, rule.pattern))
    return "is not allowed, allowed is what matches " + rule.pattern;
  if (!rule.forbidden.empty() && Matches(text, rule.forbidden))
    return "is not allowed, allowed is what has nothing of " + rule.forbidden;
  return "";
}

base::Status CheckText(const Node& node, const std::string& path, const Json& value) {
  const std::string shown = Shown(node, value);
  if (!value.is_string()) return Refused(path, shown + " is not a string");
  const std::string problem = ProblemOf(node.text, value.get_ref<const std::string&>());
  if (problem.empty()) return {};
  return Refused(path, shown + " " + problem);
}

base::Result<Json> CheckList(const Node& node, const Json& value) {
  if (!value.is_array()) return Refused(node.path, Shown(node, value) + " is not a list of strings");
  if (value.size() > node.max_items)
    return Refused(node.path, "too long, allowed are " + std::to_string(node.max_items) + " items");
  for (std::size_t i = 0; i < value.size(); ++i)
    SKERRY_RETURN_IF_ERROR(CheckText(node, node.path + "[" + std::to_string(i) + "]", value[i]));
  return value;
}

base::Result<Json> ReadInteger(const Node& node, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = end == text.data() + text.size();
  if (whole && problem == std::errc::result_out_of_range) return OutOfRange(node, base::Excerpt(text));
  if (!whole || problem != std::errc()) return CheckInteger(node, Json(std::string(text)));
  return CheckInteger(node, Json(number));
}

base::Result<Json> ReadBoolean(const Node& node, std::string_view text) {
  if (text == "true" || text == "1") return Json(true);
  if (text == "false" || text == "0") return Json(false);
  return Refused(node.path, "\"" + base::Excerpt(text) + "\" is not a boolean, allowed are: true, false, 1, 0");
}

std::string_view Trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Json SplitAtCommas(std::string_view text) {
  Json items = Json::array();
  while (!Trimmed(text).empty()) {
    const auto comma = std::min(text.find(','), text.size());
    items.push_back(std::string(Trimmed(text.substr(0, comma))));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

base::Result<Json> ReadList(const Node& node, std::string_view text) {
  if (!Trimmed(text).starts_with('[')) return CheckList(node, SplitAtCommas(text));
  const base::Result<Json> list = ParseDocument(text);
  if (!list) return Refused(node.path, list.error().message);
  return CheckList(node, *list);
}

}  // namespace

std::unexpected<base::Error> Refused(std::string_view path, std::string_view problem) {
  const std::string_view separator = path.empty() ? "" : ": ";
  return base::Err(base::Code::kInvalidArgument, std::string(path).append(separator).append(problem));
}

base::Result<Json> CheckValue(const Node& node, const Json& value) {
  switch (node.kind) {
    case Kind::kInteger:
      return CheckInteger(node, value);
    case Kind::kBoolean:
      return CheckBoolean(node, value);
    case Kind::kTextList:
      return CheckList(node, value);
    case Kind::kText:
      SKERRY_RETURN_IF_ERROR(CheckText(node, node.path, value));
      return value;
    case Kind::kSection:
    case Kind::kSynonym:
      break;
  }
  return Refused(node.path, "a section, not a value, allowed are its keys: " + base::Joined(ChildNames(node)));
}

base::Result<Json> ReadTypedText(const Node& node, std::string_view text) {
  switch (node.kind) {
    case Kind::kInteger:
      return ReadInteger(node, text);
    case Kind::kBoolean:
      return ReadBoolean(node, text);
    case Kind::kTextList:
      return ReadList(node, text);
    default:
      return CheckValue(node, Json(std::string(text)));
  }
}

}  // namespace skerry::config
