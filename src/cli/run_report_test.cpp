#include "cli/run_report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

TEST(RunReportTest, TheStreamsStandBehindTheSuccess) {
  EXPECT_EQ(ResultWithOutput({{"success", true}, {"exit_code", 0}}, "out\n", ""),
            R"({"success":true,"stdout":"out\n","stderr":"","exit_code":0})");
}

TEST(RunReportTest, BytesThatAreNoTextAreThereExactly) {
  const Json result = Json::parse(ResultWithOutput({{"success", false}}, "\xff", "e"));
  EXPECT_EQ(result["stdout_base64"], "/w==");
  EXPECT_FALSE(result.contains("stderr_base64"));
}

}  // namespace
}  // namespace skerry::cli
