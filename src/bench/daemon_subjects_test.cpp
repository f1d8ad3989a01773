#include "bench/daemon_subjects.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skerry::bench {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;

// A daemon that writes down its requests, and answers every program with 4 from a warm interpreter.
struct Fake {
  std::vector<std::string> asked;

  static DaemonCalls CallsOf(const std::shared_ptr<Fake>& fake) {
    return {.ask = [fake](const std::string& method, const std::string& target, const Json&) -> base::Result<Json> {
              fake->asked.push_back(method + " " + target);
              return Json{{"id", "s1"}, {"kinds", Json::array()}};
            },
            .post = [](const std::string&, const std::string&) -> base::Result<std::string> {
              return R"({"stdout": "4\n", "start": "warm"})";
            }};
  }
};

std::vector<std::string> GroupsOf(const auto& rows) {
  std::vector<std::string> groups;
  groups.reserve(rows.size());
  for (const auto& row : rows) groups.push_back(row.group);
  return groups;
}

TEST(DaemonSubjectsTest, WithoutADaemonEveryGroupSaysWhy) {
  const Baselines found = FindDaemonSubjects(base::Err(base::Code::kUnavailable, "nobody answers"));
  EXPECT_TRUE(found.subjects.empty());
  EXPECT_THAT(GroupsOf(found.left_out), ElementsAre("python", "pandas", "node", "shell", "cell"));
  for (const LeftOut& row : found.left_out) EXPECT_EQ(row.reason, "nobody answers");
}

TEST(DaemonSubjectsTest, TheSessionOfTheCellsIsGoneWithTheSubjects) {
  const auto fake = std::make_shared<Fake>();
  {
    const Baselines found = FindDaemonSubjects(Fake::CallsOf(fake));
    EXPECT_THAT(GroupsOf(found.subjects), ElementsAre("python", "pandas", "node", "shell", "cell"));
    EXPECT_THAT(fake->asked, ElementsAre("GET /v1/health", "POST /v1/sessions", "POST /v1/sessions/s1/contexts"));
  }
  EXPECT_EQ(fake->asked.back(), "DELETE /v1/sessions/s1");
}

TEST(DaemonSubjectsTest, AWrongAnswerIsAFailedRun) {
  const Baselines found = FindDaemonSubjects(Fake::CallsOf(std::make_shared<Fake>()));
  const auto cell = found.subjects.back().run();
  ASSERT_FALSE(cell);
  EXPECT_EQ(cell.error().code, base::Code::kExecutionFailed);
}

}  // namespace
}  // namespace skerry::bench
