#include "cli/question_round.hpp"

#include <gtest/gtest.h>

#include "confirm/glyphs.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;
using Keys = RoundStatus::Keys;

Json Waiting(const std::string& id, const Json& scopes = Json::array({"once"})) {
  return {{"id", id}, {"state", "waiting"}, {"remaining_seconds", 90}, {"scopes", scopes}};
}

TEST(QuestionRoundTest, TheFirstThatCameIsInFront) {
  QuestionRound round;
  EXPECT_TRUE(round.Add(Waiting("a")));
  EXPECT_TRUE(round.Add(Waiting("b")));
  EXPECT_EQ(round.front()->id, "a");
  round.Next();
  EXPECT_EQ(round.front()->id, "b");
  round.Next();
  EXPECT_EQ(round.front()->id, "a");
}

TEST(QuestionRoundTest, OneThatIsThereOrOverIsNotAddedAgain) {
  QuestionRound round;
  EXPECT_TRUE(round.Add(Waiting("a")));
  EXPECT_FALSE(round.Add(Waiting("a")));
  EXPECT_FALSE(round.Add({{"id", "b"}, {"state", "approved"}}));
  EXPECT_FALSE(round.Add(Json::object()));
  EXPECT_EQ(round.size(), 1U);
}

TEST(QuestionRoundTest, AfterALostConnectionTheListCounts) {
  QuestionRound round;
  round.Add(Waiting("a"));
  round.Add(Waiting("b"));
  EXPECT_EQ(round.Replace(Json::array({Waiting("b"), Waiting("c")})), std::vector<std::string>{"a"});
  EXPECT_EQ(round.front()->id, "b");
  EXPECT_EQ(round.size(), 2U);
}

TEST(QuestionRoundTest, TheStatusTellsTheTimeTheOthersAndTheKeysThatCount) {
  QuestionRound round;
  EXPECT_EQ(StatusRow(round, {}, 100), "nothing waits; q quits");
  round.Add(Waiting("a", Json::array({"once", "session"})));
  round.Add(Waiting("b"));
  EXPECT_EQ(StatusRow(round, {}, 100), "[1m30s left, 1 more] a once  s session  r reject  n next  v view  q quit");
}

TEST(QuestionRoundTest, KeysThatAreNotHeededYetAreNotOffered) {
  QuestionRound round;
  round.Add(Waiting("a"));
  EXPECT_EQ(StatusRow(round, {.keys = Keys::kNotYet}, 100), "[1m30s left] …");
}

TEST(QuestionRoundTest, ALostConnectionIsSaid) {
  QuestionRound round;
  round.Add(Waiting("a"));
  EXPECT_TRUE(StatusRow(round, {.line = RoundStatus::Line::kLost}, 100).starts_with("the connection to the daemon"));
}

TEST(QuestionRoundTest, OfALongReasonTheEndIsSeen) {
  QuestionRound round;
  round.Add(Waiting("a"));
  const std::string row = StatusRow(round, {.reason = std::string(300, 'x') + "\x1b日本end"}, 79);
  EXPECT_TRUE(row.ends_with("\\u001b日本end")) << row;
  EXPECT_LE(confirm::WidthOf(row), 79U);
}

TEST(QuestionRoundTest, TheStatusNeverNeedsASecondRow) {
  QuestionRound round;
  round.Add(Waiting("a"));
  for (std::size_t width = 0; width < 80; ++width) {
    EXPECT_LE(confirm::WidthOf(StatusRow(round, {}, width)), width);
    EXPECT_LE(confirm::WidthOf(StatusRow(round, {.reason = "because"}, width)), width);
  }
}

}  // namespace
}  // namespace skerry::cli
