#include "transport/v1/text_edits.hpp"

#include <array>
#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skerry::transport::v1 {
namespace {

using text::InsertLines;
using text::ReplaceText;

TEST(TextEditsTest, EveryKindOfEditIsReadInItsOrder) {
  const auto edits = EditsOf(nlohmann::json::parse(
      R"([{"replace": "a", "with": "b"}, {"insert": 3, "text": "c\n"}, {"replace": "d", "with": "", "count": "all"},
          {"replace": "e", "with": "f", "count": 7}])"));
  ASSERT_TRUE(edits) << edits.error().message;
  ASSERT_EQ(edits->size(), 4U);
  EXPECT_EQ(std::get<ReplaceText>((*edits)[0]).count, 1U);
  EXPECT_EQ(std::get<ReplaceText>((*edits)[0]).new_text, "b");
  EXPECT_EQ(std::get<InsertLines>((*edits)[1]).line, 3U);
  EXPECT_EQ(std::get<InsertLines>((*edits)[1]).text, "c\n");
  EXPECT_EQ(std::get<ReplaceText>((*edits)[2]).count, 0U);
  EXPECT_EQ(std::get<ReplaceText>((*edits)[3]).count, 7U);
}

TEST(TextEditsTest, WhatIsNotExactlySoIsRefusedWithItsPlace) {
  struct Row {
    std::string_view text;
    std::string_view part_of_message;
  };
  constexpr std::array kRows = {
      Row{"null", "must be an array"},
      Row{"[]", "must be an array"},
      Row{R"({"replace": "a", "with": "b"})", "must be an array"},
      Row{"[1]", "edit 1: has to be an object"},
      Row{R"([{"replace": "a", "with": "b"}, {}])", "edit 2: has to be an object"},
      Row{R"([{"replace": "a", "insert": 1, "with": "b", "text": ""}])", "edit 1: has to be an object"},
      Row{R"([{"replace": "a"}])", "edit 1: needs \"with\""},
      Row{R"([{"replace": 1, "with": "b"}])", "edit 1: needs \"replace\""},
      Row{R"([{"replace": "a", "with": "b", "count": 0}])", "edit 1: needs a \"count\""},
      Row{R"([{"replace": "a", "with": "b", "count": -1}])", "edit 1: needs a \"count\""},
      Row{R"([{"replace": "a", "with": "b", "count": "some"}])", "edit 1: needs a \"count\""},
      Row{R"([{"replace": "a", "with": "b", "al": true}])", "edit 1: does not know \"al\""},
      Row{R"([{"insert": "1", "text": "x"}])", "edit 1: needs a number"},
      Row{R"([{"insert": 1}])", "edit 1: needs \"text\""},
  };
  for (const Row& row : kRows) {
    const auto edits = EditsOf(nlohmann::json::parse(row.text));
    ASSERT_FALSE(edits) << row.text;
    EXPECT_EQ(edits.error().code, base::Code::kInvalidArgument) << row.text;
    EXPECT_NE(edits.error().message.find(row.part_of_message), std::string::npos) << edits.error().message;
  }
}

}  // namespace
}  // namespace skerry::transport::v1
