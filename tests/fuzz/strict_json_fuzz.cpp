// Any bytes as untrusted JSON, and its fields.
//
// The rules: a text is accepted when nlohmann's own parser accepts it, and it is UTF-8 without a mark or a NUL, repeats
// no name and keeps to the limits; the value is the same; written down, it is accepted again. A field has the type that
// was asked for.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.hpp"
#include "json/strict.hpp"

namespace {

using Json = nlohmann::json;
using skerry::json::Fields;
using skerry::json::StrictLimits;

constexpr std::size_t kLongestMessage = 1000;

[[noreturn]] void Break(const char* rule) {
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

void Require(bool holds, const char* rule) {
  if (!holds) Break(rule);
}

// What is unusual in a text, as nlohmann's parser finds it.
struct Unusual {
  std::size_t depth = 0;
  std::size_t values = 0;
  bool repeats = false;
};

Unusual LookAt(std::string_view text) {
  Unusual unusual;
  std::vector<std::set<std::string>> names;
  (void)Json::parse(
      text,
      [&](int, Json::parse_event_t event, Json& parsed) {
        using Event = Json::parse_event_t;
        const bool begins = event == Event::object_start || event == Event::array_start;
        if (begins) names.emplace_back();
        unusual.depth = std::max(unusual.depth, names.size());
        if (begins || event == Event::value || event == Event::key) ++unusual.values;
        if (event == Event::key) unusual.repeats |= !names.back().insert(parsed.get<std::string>()).second;
        if (event == Event::object_end || event == Event::array_end) names.pop_back();
        return true;
      },
      false);
  return unusual;
}

void CheckAccepted(std::string_view text, const StrictLimits& limits) {
  const auto value = skerry::json::ParseStrict(text, limits);
  bool expected = skerry::base::IsValidUtf8(text) && !text.starts_with("\xef\xbb\xbf") && !text.contains('\0') &&
                  Json::accept(text);
  if (expected) {
    const Unusual unusual = LookAt(text);
    expected = !unusual.repeats && unusual.depth <= limits.depth && unusual.values <= limits.values;
  }
  Require(value.has_value() == expected, value ? "accepted, though it should not be" : "refused without a reason");
  if (!value) {
    Require(value.error().code == skerry::base::Code::kInvalidArgument, "refused for another reason");
    Require(value.error().message.size() < kLongestMessage, "a long message");
    Require(skerry::base::IsValidUtf8(value.error().message), "a message that is no UTF-8");
    return;
  }
  Require(*value == Json::parse(text), "another value than nlohmann's");
  const std::string written = value->dump();
  const auto again = skerry::json::ParseStrict(written, limits);
  Require(again && *again == *value && again->dump() == written, "what is written down is another value");
}

void CheckFields(const Json& value) {
  static constexpr std::array<std::string_view, 2> kWords = {"one", "two"};
  static constexpr std::array<std::string_view, 8> kNames = {"t", "n", "f", "l", "m", "w", "o", "a"};
  Fields fields(value, "x.");
  const auto text = fields.Text("t", 8);
  Require(!text || text->size() <= 8, "a text is too long");
  const auto number = fields.Number("n", 3, 300);
  Require(!number || (*number >= 3 && *number <= 300), "a number is out of its range");
  (void)fields.Flag("f");
  const auto texts = fields.Texts("l", 2, 4);
  Require(!texts || texts->size() <= 2, "a list is too long");
  if (texts) Require(std::ranges::all_of(*texts, [](const auto& each) { return each.size() <= 4; }), "a long text");
  const auto map = fields.Map("m", 2, 4);
  Require(!map || map->size() <= 2, "a map is too large");
  const auto word = fields.Word("w", kWords);
  Require(!word || std::ranges::find(kWords, *word) != kWords.end(), "another word");
  const Json* object = fields.Object("o");
  Require(object == nullptr || object->is_object(), "no object");
  const Json* array = fields.Array("a", 2);
  Require(array == nullptr || (array->is_array() && array->size() <= 2), "no list, or a long one");
  const auto finished = fields.Finish();
  if (!finished) {
    Require(finished.error().message.size() < kLongestMessage, "a long message");
    Require(skerry::base::IsValidUtf8(finished.error().message), "a message that is no UTF-8");
    return;
  }
  Require(value.is_object(), "fields of no object");
  for (const auto& [name, field] : value.items()) {
    Require(std::ranges::find(kNames, name) != kNames.end(), "a field that nobody asked for");
    const bool given = (name == "t" && text) || (name == "n" && number) || (name == "l" && texts) ||
                       (name == "m" && map) || (name == "w" && word) || (name == "o" && object != nullptr) ||
                       (name == "a" && array != nullptr) || (name == "f" && field.is_boolean());
    Require(given || field.is_null(), "a wrong field was passed over");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckAccepted(text, {});
  CheckAccepted(text, {.depth = 3, .values = 10});
  if (const auto value = skerry::json::ParseStrict(text)) CheckFields(*value);
  return 0;
}
