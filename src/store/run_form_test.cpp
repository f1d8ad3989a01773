#include "store/run_form.hpp"

#include <gtest/gtest.h>

namespace skerry::store {
namespace {

using core::RunState;

core::RunEnd Everything() {
  core::ExecutionResult result{
      .execution_id = "exe1",
      .outcome = {.kind = core::OutcomeKind::kTimedOut, .exit_code = 124, .signal = 9, .limit = 30, .reason = "late"},
      .risk = {.assessed = true,
               .level = core::RiskLevel::kHigh,
               .reason = "r",
               .requires_confirmation = true,
               .requires_isolation = true,
               .suggested_sandbox = core::SuggestedSandbox::kIsolated,
               .detected_patterns = {"p1", "p2"},
               .lowerings = {"l"}},
      .output_truncated = true,
      .output_removed = true,
      .output_bytes = std::uint64_t{1} << 40U,
      .sandbox_type = "native",
      .start = core::StartKind::kFork,
      .execution_time = std::chrono::milliseconds(12),
      .timings = {.policy = std::chrono::nanoseconds(1),
                  .approval = std::chrono::nanoseconds(2),
                  .obtain = std::chrono::nanoseconds(3),
                  .run = std::chrono::nanoseconds(4),
                  .finish = std::chrono::nanoseconds(5)},
      .memory_peak_bytes = 77,
      .files_created = {"a", "b"},
      .files_changed = {"c"},
      .files_deleted = {"d"},
      .files_withheld = {{"w", "why"}},
      .files_to_review = {{"v", "look"}},
      .files_total = core::FileTotals{.created = 2, .changed = 1, .deleted = 1, .withheld = 9, .to_review = 1},
      .diff = "+x",
      .approved_by = "tok1",
      .digest = std::string(64, 'f'),
      .limits_reached = {{"memory", 512, "MB"}},
      .degraded = {"weak"}};
  result.cell = core::CellDetails{
      .context = "c",
      .language = core::Language::kJavaScript,
      .number = 7,
      .outputs = {{.kind = core::CellOutput::Kind::kResult, .forms = {{"text/plain", "4"}, {"image/png", "iVBO"}}},
                  {.forms = {{"text/html", "<b>"}}}},
      .outputs_left_out = 3,
      .error = core::CellError{.name = "E", .message = "m", .traceback = "t"},
      .alive = false};
  return {.result = std::move(result)};
}

TEST(RunFormTest, EverythingComesBackAsItWas) {
  EXPECT_EQ(DecodeEnd(RunState::kDone, EncodeEnd(Everything())), Everything());
  EXPECT_EQ(DecodeEnd(RunState::kDone, EncodeEnd({})), core::RunEnd{});
  const core::RunEnd failed{.state = RunState::kLost,
                            .result = {.execution_id = "x", .output_bytes = 5},
                            .error = base::Error{base::Code::kConflict, "busy"}};
  EXPECT_EQ(DecodeEnd(RunState::kLost, EncodeEnd(failed)), failed);
}

TEST(RunFormTest, HasAVersionAndIsTextWhateverTheNamesAre) {
  const std::string text = EncodeEnd({.result = {.files_created = {"caf\xe9"}}});
  EXPECT_NE(text.find("\"v\":2"), std::string::npos) << text;
  EXPECT_EQ(DecodeEnd(RunState::kDone, text).result.files_created.front(), "caf\xEF\xBF\xBD");
}

TEST(RunFormTest, DamagedTextsAreEmptyEnds) {
  for (const char* text : {"", "[1]", "{", "7", R"({"v":2,"outcome":3,"total":[1],"cell":"x","limits":{},"risk":[]})"})
    EXPECT_EQ(DecodeEnd(RunState::kDone, text), core::RunEnd{}) << text;
}

TEST(RunFormTest, TheFirstVersionIsReadToo) {
  const core::RunEnd done =
      DecodeEnd(RunState::kDone,
                R"x({"success":false,"stdout":"","stderr":"","exit_code":124,"error":"Execution timeout (2s)",
          "sandbox_type":"native","start":"warm","execution_time_ms":2001,
          "timings_ms":{"obtain":0.5,"run":2000.25,"finish":1},
          "files_created":["a"],"files_changed":[],"files_deleted":[],"files_withheld":[{"path":"w","reason":"r"}],
          "files_total":{"created":5,"changed":0,"deleted":0,"withheld":1,"to_review":0},"outcome":"timed_out",
          "output_truncated":true,"output_bytes":9,"memory_peak_bytes":3,"execution_id":"e1","approved_by":"p",
          "limits_reached":[{"name":"time","limit":2,"unit":"s"}],"degraded":["d"],
          "risk":{"level":"medium","reason":"why","requires_confirmation":true,"requires_isolation":false,
                  "suggested_sandbox":"isolated","detected_patterns":["x"],"lowerings":[]}})x");
  EXPECT_EQ(done.Outcome(), "timed_out");
  EXPECT_EQ(done.ExitCode(), 124);
  EXPECT_EQ(done.result.outcome.Explanation(), "Execution timeout (2s)");
  EXPECT_EQ(done.result.timings.run, std::chrono::microseconds(2'000'250));
  EXPECT_EQ(done.result.files_total->created, 5U);
  EXPECT_EQ(done.result.files_withheld.front().reason, "r");
  EXPECT_EQ(done.result.risk.level, core::RiskLevel::kMedium);
  EXPECT_EQ(done.result.limits_reached.front().limit, 2U);
  EXPECT_EQ(done.result.start, core::StartKind::kWarm);
  const core::RunEnd rejected =
      DecodeEnd(RunState::kDone, R"({"exit_code":126,"error":"Rejected: no","outcome":"rejected"})");
  EXPECT_EQ(rejected.result.outcome.reason, "no");
  EXPECT_EQ(rejected.result.outcome.Explanation(), "Rejected: no");
  const core::RunEnd failed =
      DecodeEnd(RunState::kDone, R"({"exit_code":75,"error":"busy","error_code":"conflict","outcome":"failed"})");
  ASSERT_TRUE(failed.error.has_value());
  EXPECT_EQ(failed.error->code, base::Code::kConflict);
  EXPECT_EQ(failed.error->message, "busy");
}

TEST(RunFormTest, CellsOfTheFirstVersionAreReadToo) {
  const core::RunEnd cell =
      DecodeEnd(RunState::kDone,
                R"({"success":false,"exit_code":1,"error":"ValueError: no","error_name":"ValueError","traceback":"T",
          "outputs":[{"kind":"result","data":{"text/plain":"4"}}],"context":"c","language":"javascript","cell":3,
          "alive":true,"start":"fork","outcome":"exited"})");
  ASSERT_TRUE(cell.result.cell.has_value());
  EXPECT_EQ(cell.result.cell->error->message, "no");
  EXPECT_EQ(cell.result.cell->number, 3U);
  EXPECT_EQ(cell.result.cell->outputs.front().forms.front().data, "4");
  EXPECT_EQ(cell.result.cell->outputs.front().kind, core::CellOutput::Kind::kResult);
  EXPECT_TRUE(cell.result.cell->alive);
}

}  // namespace
}  // namespace skerry::store
