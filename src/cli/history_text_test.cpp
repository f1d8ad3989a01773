#include "cli/history_text.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;

core::HistoryEntry AnEntry() {
  core::HistoryEntry entry;
  entry.execution = {.id = "e1",
                     .sequence = 7,
                     .session = "s",
                     .kind = "run",
                     .what = "\n  print(1)\nprint(2)\n",
                     .language = "python",
                     .by = "somebody",
                     .risk = "low",
                     .approval = "a person",
                     .state = core::ExecutionState::kDone,
                     .outcome = "exited",
                     .exit_code = 3,
                     .started_at = core::TimePoint(1'700'000'000s),
                     .ended_at = core::TimePoint(1'700'000'002s)};
  entry.changes = {{.path = "a", .action = core::FileAction::kCreated},
                   {.path = "b", .action = core::FileAction::kChanged},
                   {.path = "c", .action = core::FileAction::kRemoved}};
  return entry;
}

TEST(HistoryTextTest, ABlockTellsWhoDidWhatAndWhatBecameOfFiles) {
  EXPECT_EQ(EntryAsText(AnEntry(), "#6"),
            "#7 2023-11-14T22:13:20Z run python by somebody: exit code 3, 2.0 s\n"
            "    print(1) [and more lines]\n"
            "    risk: low\n"
            "    approved by: a person\n"
            "    caused by: #6\n"
            "    + a\n"
            "    ~ b\n"
            "    - c\n"
            "\n");
}

TEST(HistoryTextTest, WhatCodeAndFilesAreCalledCannotMoveTheCursorOrStartALine) {
  core::HistoryEntry entry = AnEntry();
  entry.execution.what = "\x1b[2J\rx";
  entry.execution.reason = "first\nskerry: forged";
  entry.execution.by = "me\n#8 forged";
  entry.changes = {{.path = "a\n+ forged\x1b]0;x\x07\xff"}};
  const std::string text = EntryAsText(entry, "\n#9");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find("\n#"), std::string::npos) << text;
  EXPECT_EQ(text.find("\n+"), std::string::npos) << text;
  EXPECT_EQ(text.find("\nskerry"), std::string::npos) << text;
}

TEST(HistoryTextTest, ALongLineIsCut) {
  core::HistoryEntry entry = AnEntry();
  entry.execution.what = std::string(100'000, 'x');
  EXPECT_LT(EntryAsText(entry, "").size(), 400U);
}

TEST(HistoryTextTest, OfManyFilesTheFirstTwentyAreNamed) {
  std::vector<core::FileChange> changes(25, core::FileChange{.path = "f"});
  const std::string text = ChangesAsText(changes, "  ");
  EXPECT_EQ(std::ranges::count(text, '\n'), 21);
  EXPECT_TRUE(text.ends_with("  and 5 more\n")) << text;
}

TEST(HistoryTextTest, WhatHasNotEndedHasNoExitCode) {
  core::HistoryEntry entry = AnEntry();
  entry.execution.state = core::ExecutionState::kRunning;
  entry.execution.ended_at.reset();
  EXPECT_NE(EntryAsText(entry, "").find("somebody: running\n"), std::string::npos);
  entry.execution.state = core::ExecutionState::kLost;
  entry.execution.outcome = "lost";
  EXPECT_NE(EntryAsText(entry, "").find("somebody: lost\n"), std::string::npos);
}

TEST(HistoryTextTest, DurationsHaveTheUnitThatFits) {
  EXPECT_EQ(DurationAsText(312ms), "312 ms");
  EXPECT_EQ(DurationAsText(2550ms), "2.5 s");
  EXPECT_EQ(DurationAsText(3min + 20s), "3 min 20 s");
}

TEST(HistoryTextTest, AFileIsToldWithWhatMadeItAndFromWhat) {
  core::FileVersion source{.execution = "e0", .sequence = 6};
  source.change = {.path = "in", .size = 1, .mode = 0600, .sha256 = "ab"};
  core::FileVersion made{.execution = "e1", .sequence = 7, .at = core::TimePoint(1'700'000'000s)};
  made.change = {.path = "out", .size = 5, .mode = 0644, .sha256 = "cd"};
  core::FileHistory history{.path = "out"};
  history.versions.push_back({.version = made,
                              .execution = AnEntry().execution,
                              .sources = {{.use = {.path = "in"}, .made = source}, {.use = {.path = "other"}}}});
  history.origins.push_back({.version = source, .execution = AnEntry().execution});
  const std::string text = FileHistoryAsText(history);
  EXPECT_TRUE(text.starts_with("out\n+ created 2023-11-14T22:13:20Z, 5 bytes, mode 0644, sha256 cd\n    #7 ")) << text;
  EXPECT_NE(text.find("    from in (read), made by #6\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    from other (read), made by nothing that is recorded\n"), std::string::npos) << text;
  EXPECT_NE(text.find("made from:\n+ in created"), std::string::npos) << text;
}

}  // namespace
}  // namespace skerry::cli
