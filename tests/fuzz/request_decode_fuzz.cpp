// Any bytes as the parts of a request that have a format of their own: edits of a text, a range of bytes, a cursor.
//
// The rules: edits that are accepted are those that were written; a range lies in the file; a cursor has one spelling.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "json/strict.hpp"
#include "transport/kit/byte_range.hpp"
#include "transport/kit/cursor.hpp"
#include "transport/v1/search_cursor.hpp"
#include "transport/v1/text_edits.hpp"

namespace {

namespace kit = skerry::transport::kit;
namespace v1 = skerry::transport::v1;
namespace text = skerry::text;
using Json = nlohmann::json;

[[noreturn]] void Break(const char* rule) {
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

void Require(bool holds, const char* rule) {
  if (!holds) Break(rule);
}

Json Written(const text::TextEdit& edit) {
  if (const auto* insert = std::get_if<text::InsertLines>(&edit))
    return {{"insert", insert->line}, {"text", insert->text}};
  const auto& replace = std::get<text::ReplaceText>(edit);
  Json object = {{"replace", replace.old_text}, {"with", replace.new_text}, {"count", replace.count}};
  if (replace.count == 0) object["count"] = "all";
  return object;
}

void CheckEdits(std::string_view text) {
  const auto value = skerry::json::ParseStrict(text);
  if (!value) return;
  const auto edits = v1::EditsOf(*value);
  if (!edits) {
    Require(edits.error().code == skerry::base::Code::kInvalidArgument, "refused for another reason");
    Require(edits.error().message.size() < 1000, "a long message");
    Require(skerry::base::IsValidUtf8(edits.error().message), "a message that is no UTF-8");
    return;
  }
  Require(!edits->empty() && edits->size() == value->size(), "an edit was lost");
  for (std::size_t i = 0; i < edits->size(); ++i) {
    Json expected = (*value)[i];
    if (expected.contains("replace") && !expected.contains("count")) expected["count"] = 1;
    Require(Written((*edits)[i]) == expected, "an edit is another one than was written");
  }
}

void CheckRange(std::string_view header, std::uint64_t size) {
  using Kind = kit::WantedBytes::Kind;
  const kit::WantedBytes wanted = kit::ParseRange(header, size);
  switch (wanted.kind) {
    case Kind::kWhole:
      return Require(wanted.offset == 0 && wanted.length == size, "the whole is not all of it");
    case Kind::kPart:
      return Require(wanted.length > 0 && wanted.offset < size && wanted.length <= size - wanted.offset,
                     "a part that the file does not have");
    case Kind::kNowhere:
      return Require(wanted.offset == 0 && wanted.length == 0, "nowhere, with bytes");
  }
}

void CheckCursor(std::string_view text) {
  Require(kit::DecodeCursor(kit::EncodeCursor(text)) == std::string(text) ||
              kit::EncodeCursor(text).size() > kit::kLongestCursor,
          "a cursor does not come back");
  if (const auto bytes = kit::DecodeCursor(text)) Require(kit::EncodeCursor(*bytes) == text, "a cursor in two forms");
  for (const std::string& cursor : {std::string(text), kit::EncodeCursor(text)}) {
    const auto position = v1::ParseSearchCursor(cursor);
    if (!position) continue;
    Require(!position->path.empty(), "a place without a path");
    const auto again = v1::ParseSearchCursor(v1::SearchCursor(*position));
    Require(again && again->path == position->path && again->line == position->line, "a place is another one");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckEdits(text);
  for (const std::uint64_t file : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, UINT64_MAX})
    CheckRange(text, file);
  CheckRange("bytes=" + std::string(text), 1000);
  CheckCursor(text);
  return 0;
}
