#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json/execution_json.hpp"
#include "json/text.hpp"

namespace skerry::json {
namespace {

using Json = nlohmann::ordered_json;

core::ExecutionResult ManyFiles(std::size_t count, std::size_t length) {
  core::ExecutionResult result{.execution_id = "x1", .standard_output = "written"};
  for (std::size_t i = 0; i < count; ++i) result.files_created.push_back(std::to_string(i) + std::string(length, 'n'));
  return result;
}

TEST(SummaryTest, IsShortWhateverRan) {
  auto result = ManyFiles(9000, 3000);
  result.diff = std::string(1 << 20U, 'd');
  result.degraded = std::vector<std::string>(1000, std::string(10'000, 'g'));
  const std::string text = ToJson(result, kKeptLists);
  EXPECT_LT(text.size(), std::size_t{14} << 20U);
  EXPECT_LT(SummaryOf(text).size(), 50'000U);
}

TEST(SummaryTest, HasWhatAListShows) {
  const Json summary = Parse(SummaryOf(ToJson(ManyFiles(100, 5))));
  EXPECT_EQ(summary["execution_id"], "x1");
  EXPECT_EQ(summary["outcome"], "exited");
  EXPECT_EQ(summary["files_created"].size(), 10U);
  EXPECT_EQ(summary["files_total"]["created"], 100);
  EXPECT_EQ(summary["files_total"]["deleted"], 0);
  EXPECT_FALSE(summary.contains("stdout"));
}

TEST(SummaryTest, NamesTheFirstFilesToReviewAndCountsAll) {
  core::ExecutionResult result;
  for (int i = 0; i < 5000; ++i)
    result.files_to_review.push_back({std::to_string(i) + std::string(100, 'd') + "/AGENTS.md", "agents follow it"});
  const std::string kept = ToJson(result, kKeptLists);
  EXPECT_EQ(Parse(kept)["files_to_review"].size(), kKeptLists.names);
  EXPECT_EQ(Parse(kept)["files_total"]["to_review"], 5000);
  const Json summary = Parse(SummaryOf(kept));
  EXPECT_LE(summary["files_to_review"].size(), 10U);
  EXPECT_EQ(summary["files_total"]["to_review"], 5000);
  EXPECT_EQ(summary["files_total"]["withheld"], 0);
  // Also where the result had room for all of them.
  result.files_to_review.resize(20);
  EXPECT_EQ(Parse(SummaryOf(ToJson(result)))["files_total"]["to_review"], 20);
}

TEST(SummaryTest, OfLittleIsAllButWhatWasWritten) {
  Json whole = Parse(ToJson(ManyFiles(3, 5)));
  whole.erase("stdout");
  whole.erase("stderr");
  EXPECT_EQ(Parse(SummaryOf(ToJson(ManyFiles(3, 5)))), whole);
}

TEST(SummaryTest, OfACellLeavesItsOutputsOut) {
  const Json cell = {{"success", true}, {"outputs", {{{"kind", "display"}, {"data", {{"image/png", "x"}}}}}}};
  const Json summary = Parse(SummaryOf(Text(cell)));
  EXPECT_EQ(summary["outputs"], Json::array());
  EXPECT_EQ(summary["outputs_total"], 1);
}

TEST(SummaryTest, OfWhatIsNoObjectIsNothing) {
  EXPECT_EQ(SummaryOf(""), "");
  EXPECT_EQ(SummaryOf("[1]"), "");
}

TEST(KeptListsTest, NamesFilesUpToABoundAndCountsAll) {
  const Json many = Parse(ToJson(ManyFiles(5000, 5), kKeptLists));
  EXPECT_EQ(many["files_created"].size(), kKeptLists.names);
  EXPECT_EQ(many["files_total"]["created"], 5000);
  const std::string longer = ToJson(ManyFiles(9000, 3000), kKeptLists);
  EXPECT_LT(longer.size(), kKeptLists.bytes + 8192);
  EXPECT_FALSE(Parse(ToJson(ManyFiles(5, 5), kKeptLists)).contains("files_total"));
}

}  // namespace
}  // namespace skerry::json
