#include "cli/top_view.hpp"

#include <gtest/gtest.h>

#include "cli/top_state.hpp"
#include "confirm/glyphs.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

SandboxReading Reading(const std::string& session, double cpu, std::uint64_t memory) {
  SandboxReading reading;
  reading.session = session;
  reading.state = "active";
  reading.cpu_percent = cpu;
  reading.memory = memory;
  return reading;
}

std::vector<std::string> Names(const std::vector<SandboxReading>& readings) {
  std::vector<std::string> names;
  for (const SandboxReading& reading : readings) names.push_back(reading.id());
  return names;
}

std::string Text(const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  return text;
}

Key Letter(char letter) {
  return {.kind = Key::Kind::kCharacter, .text = std::string(1, letter)};
}

TEST(SparklineTest, ValuesAreStepsOfTheHighest) {
  const std::vector<double> values = {0, 0.1, 50, 100, 200};
  EXPECT_EQ(Sparkline(values, 100, 5, GraphLetters::kBlocks), " ▁▄██");
  EXPECT_EQ(Sparkline(values, 100, 7, GraphLetters::kAscii), "   _=##");
  EXPECT_EQ(Sparkline(values, 100, 2, GraphLetters::kBlocks), "██");
  EXPECT_EQ(Sparkline(values, 0, 2, GraphLetters::kBlocks), "  ");
}

TEST(TopViewTest, ASandboxIsReadAsTheContractHasIt) {
  const Json item = Json::parse(R"({"session_id": null, "execution_id": "x1", "tenant": "t", "state": "active",
    "what": "while :; do :; done", "started_at": "2026-01-01T00:00:00Z", "alerts": ["cpu"],
    "usage": {"cpu_percent": 99.5, "cpu_limit_percent": 200, "memory_bytes": 1048576, "memory_limit_bytes": 0, "pids": 3,
              "pids_limit": 64, "received_bytes": 5, "sent_bytes": 6, "disk_bytes": 7, "disk_limit_bytes": 8},
    "recent": {"cpu_percent": [1, 2.5], "memory_bytes": [3]}})");
  const SandboxReading reading = ReadingsFrom(Json::array({item})).front();
  EXPECT_EQ(reading.id(), "x1");
  EXPECT_EQ(reading.cpu_percent, 99.5);
  EXPECT_EQ(reading.pids_limit, 64U);
  EXPECT_EQ(reading.recent_cpu, (std::vector{1, 2.5}));
  EXPECT_EQ(reading.alerts, std::vector<std::string>{"cpu"});
}

TEST(TopViewTest, ASandboxWithoutASampleIsThereToo) {
  const auto readings = ReadingsFrom(Json::array({{{"session_id", "s"}, {"usage", nullptr}}}));
  EXPECT_TRUE(Text(TopRows(readings, {})).contains("s "));
}

TEST(TopViewTest, TheMostComesFirstAndEqualOnesByName) {
  std::vector<SandboxReading> readings = {Reading("b", 1, 9), Reading("a", 1, 5), Reading("c", 50, 1)};
  SortReadings(readings, TopSort::kCpu);
  EXPECT_EQ(Names(readings), (std::vector<std::string>{"c", "a", "b"}));
  SortReadings(readings, TopSort::kMemory);
  EXPECT_EQ(Names(readings), (std::vector<std::string>{"b", "a", "c"}));
}

TEST(TopViewTest, TheOldestComesFirst) {
  std::vector<SandboxReading> readings = {Reading("new", 0, 0), Reading("old", 0, 0), Reading("unknown", 0, 0)};
  readings[0].started = core::TimePoint(std::chrono::seconds(20));
  readings[1].started = core::TimePoint(std::chrono::seconds(10));
  SortReadings(readings, TopSort::kAge);
  EXPECT_EQ(Names(readings), (std::vector<std::string>{"old", "new", "unknown"}));
}

TEST(TopViewTest, TheHeadHasTheSums) {
  std::vector<SandboxReading> readings = {Reading("a", 60.4, 1 << 20), Reading("b", 90.4, 1 << 20)};
  readings[0].alerts = {"cpu"};
  EXPECT_EQ(TopRows(readings, {.waiting = 2}).front(),
            "skerry top   2 sandboxes   CPU 151 %   memory 2.0M   2 approvals wait   1 alert");
  EXPECT_EQ(TopRows({}, {}).front(), "skerry top   0 sandboxes   CPU 0 %   memory 0   0 alerts");
}

TEST(TopViewTest, NoRowIsWiderThanTheWindowAndThereAreNoMoreThanFit) {
  std::vector<SandboxReading> readings;
  for (int i = 0; i < 50; ++i) readings.push_back(Reading("日本語\x1b[2J\r" + std::to_string(i), i, 1));
  for (SandboxReading& reading : readings) reading.what = "echo \x1b[31m\r\n" + std::string(500, 'x');
  using Kind = TopPage::Kind;
  for (const Kind kind : {Kind::kTable, Kind::kDetails, Kind::kHelp})
    for (std::uint64_t columns = 1; columns < 200; columns += 7) {
      const auto rows = TopRows(readings, {.kind = kind, .selected = readings[30].id(), .size = {10, columns}});
      EXPECT_LE(rows.size(), 10U);
      for (const std::string& row : rows) {
        EXPECT_LE(confirm::WidthOf(row), columns) << row;
        EXPECT_EQ(row.find_first_of("\x1b\r\n"), std::string::npos) << row;
      }
    }
}

TEST(TopViewTest, TheSelectedOneIsAlwaysAmongThoseThatFit) {
  std::vector<SandboxReading> readings;
  for (int i = 10; i < 60; ++i) readings.push_back(Reading("s" + std::to_string(i), 0, 0));
  for (const SandboxReading& reading : readings)
    EXPECT_TRUE(Text(TopRows(readings, {.selected = reading.id(), .size = {10, 80}})).contains(reading.id() + " "));
}

TEST(TopStateTest, TheSelectionStaysOnItsSandbox) {
  TopState state(TopSort::kCpu);
  state.Take({Reading("a", 9, 0), Reading("b", 5, 0)});
  state.Press(Letter('j'));
  EXPECT_EQ(state.Page("").selected, "b");
  state.Take({Reading("a", 1, 0), Reading("b", 5, 0), Reading("c", 50, 0)});
  EXPECT_EQ(state.Page("").selected, "b");
  state.Take({Reading("a", 1, 0), Reading("c", 50, 0)});
  EXPECT_EQ(state.Page("").selected, "c");
}

TEST(TopStateTest, TheSelectionStopsAtBothEnds) {
  TopState state(TopSort::kCpu);
  state.Take({Reading("a", 9, 0), Reading("b", 5, 0)});
  state.Press({.kind = Key::Kind::kUp});
  EXPECT_EQ(state.Page("").selected, "a");
  for (int i = 0; i < 3; ++i) state.Press({.kind = Key::Kind::kDown});
  EXPECT_EQ(state.Page("").selected, "b");
}

TEST(TopStateTest, ALetterSortsAtOnce) {
  TopState state(TopSort::kCpu);
  state.Take({Reading("a", 9, 1), Reading("b", 5, 2)});
  state.Press(Letter('m'));
  EXPECT_EQ(Names(state.readings()), (std::vector<std::string>{"b", "a"}));
}

TEST(TopStateTest, NothingIsEndedWithoutAYes) {
  TopState state(TopSort::kCpu);
  state.Take({Reading("a", 9, 1)});
  for (const char other : {'n', 'K', 'q'}) {
    state.Press(Letter('K'));
    EXPECT_TRUE(state.Page("").notice.contains("End everything that runs in a?"));
    EXPECT_EQ(state.Press(Letter(other)).kind, TopWish::Kind::kNothing);
    EXPECT_FALSE(state.Page("").notice.contains("End everything"));
  }
}

TEST(TopStateTest, AYesIsForTheOneThatWasAskedAboutWhateverIsSelectedByThen) {
  TopState state(TopSort::kCpu);
  state.Take({Reading("a", 9, 1), Reading("b", 5, 1)});
  state.Press(Letter('K'));
  state.Take({Reading("b", 5, 1)});
  const TopWish wish = state.Press(Letter('y'));
  EXPECT_EQ(wish.kind, TopWish::Kind::kEndRuns);
  EXPECT_EQ(wish.whom.id(), "a");
}

TEST(TopStateTest, WithoutSandboxesThereIsNothingToEndOrToTell) {
  TopState state(TopSort::kCpu);
  state.Take({});
  state.Press(Letter('K'));
  state.Press({.kind = Key::Kind::kEnter});
  EXPECT_EQ(state.Page("").kind, TopPage::Kind::kTable);
  EXPECT_EQ(state.Press(Letter('y')).kind, TopWish::Kind::kNothing);
}

TEST(TopStateTest, ThePageAboutOneThatIsGoneSaysSo) {
  TopState state(TopSort::kCpu);
  state.Take({Reading("a", 9, 1), Reading("b", 5, 1)});
  state.Press({.kind = Key::Kind::kEnter});
  state.Take({Reading("b", 5, 1)});
  EXPECT_TRUE(Text(TopRows(state.readings(), state.Page(""))).contains("a is gone"));
}

}  // namespace
}  // namespace skerry::cli
