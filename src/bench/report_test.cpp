#include "bench/report.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/temporary_directory.hpp"

namespace skerry::bench {
namespace {

using std::chrono::microseconds;
using ::testing::HasSubstr;
using ::testing::Not;

SubjectResult Measured(const std::string& name, Duration p50, Target target = {}) {
  SubjectResult result{.name = name, .detail = "/bin/" + name, .target = target};
  for (int i = 0; i < 10; ++i) result.samples.Add({.total = p50, .steps = {{"claim", p50 / 4}, {"fork", p50 / 2}}});
  return result;
}

SubjectFigures Judged(const SubjectResult& subject, const SubjectResult& baseline) {
  return MakeReport("1", {}, {{.name = "g", .baseline = baseline.name, .subjects = {baseline, subject}}})
      .groups[0]
      .subjects[1];
}

Report Example() {
  Report report =
      MakeReport("0.1.0", {.cpus = 2, .kernel = "6.1", .cgroup = "v2"},
                 {{.name = "python",
                   .title = "python print(1)",
                   .baseline = "bare",
                   .subjects = {Measured("bare", microseconds(16'000)),
                                Measured("skerry", microseconds(290), {.ratio = 0.1}),
                                {.name = "srt", .failures = 3, .failure = "exited with 1", .failed = "exited with 1"},
                                {.name = "docker exec", .skipped = "no engine"}}}});
  report.date = "2026-01-31T12:00:00Z";
  return report;
}

TEST(MakeReportTest, RatiosAreOfTheMediansToTheBaselines) {
  const Report report = Example();
  EXPECT_DOUBLE_EQ(*report.groups[0].subjects[0].ratio, 1);
  EXPECT_DOUBLE_EQ(*report.groups[0].subjects[1].ratio, 0.018125);
  EXPECT_EQ(report.groups[0].subjects[1].met, true);
  EXPECT_FALSE(report.groups[0].subjects[2].ratio);
}

TEST(MakeReportTest, ATargetIsMissedAboveItAndMetAtIt) {
  const auto bare = Measured("bare", microseconds(1000));
  EXPECT_EQ(Judged(Measured("skerry", microseconds(100), {.ratio = 0.1}), bare).met, true);
  EXPECT_EQ(Judged(Measured("skerry", microseconds(101), {.ratio = 0.1}), bare).met, false);
  EXPECT_EQ(Judged(Measured("skerry", microseconds(101)), bare).met, std::nullopt);
}

TEST(MakeReportTest, BothHalvesOfATargetMustHold) {
  const Target both{.ratio = 0.1, .p50 = microseconds(50)};
  const auto bare = Measured("bare", microseconds(1000));
  EXPECT_EQ(Judged(Measured("skerry", microseconds(50), both), bare).met, true);
  EXPECT_EQ(Judged(Measured("skerry", microseconds(60), both), bare).met, false);
  EXPECT_EQ(Judged(Measured("skerry", microseconds(60), {.p50 = microseconds(60)}), bare).met, true);
}

TEST(MakeReportTest, WithoutTheBaselineATargetIsUnknownNotMet) {
  const SubjectResult missing{.name = "docker run", .skipped = "no engine"};
  EXPECT_EQ(Judged(Measured("skerry", microseconds(1), {.ratio = 0.1}), missing).met, std::nullopt);
  const Target both{.ratio = 0.1, .p50 = microseconds(50)};
  EXPECT_EQ(Judged(Measured("skerry", microseconds(60), both), missing).met, false);
  EXPECT_EQ(Judged(Measured("skerry", microseconds(40), both), missing).met, std::nullopt);
}

TEST(MakeReportTest, ASubjectThatFailedMissesItsTarget) {
  SubjectResult failed = Measured("skerry", microseconds(1), {.ratio = 0.1});
  failed.failed = "broken";
  const SubjectFigures figures = Judged(failed, Measured("bare", microseconds(1000)));
  EXPECT_EQ(figures.met, false);
  EXPECT_FALSE(figures.ratio);
}

TEST(ReportTableTest, ShowsFiguresTargetsStepsAndReasons) {
  const std::string table = ToTable(Example());
  EXPECT_THAT(table, HasSubstr("python print(1)"));
  EXPECT_THAT(table, HasSubstr("0.290 ms"));
  EXPECT_THAT(table, HasSubstr("0.0181"));
  EXPECT_THAT(table, HasSubstr("≤ 0.100"));
  EXPECT_THAT(table, HasSubstr("met"));
  EXPECT_THAT(table, HasSubstr("FAILED: exited with 1"));
  EXPECT_THAT(table, HasSubstr("not measured: no engine"));
  EXPECT_THAT(table, HasSubstr("/bin/skerry"));
  EXPECT_LT(table.find("fork"), table.find("claim")) << "the largest step comes first";
}

TEST(ReportTableTest, AFailureThatWasAllowedIsNamed) {
  Report report = Example();
  report.groups[0].subjects[1].failures = 1;
  report.groups[0].subjects[1].failure = "no answer";
  EXPECT_THAT(ToTable(report), HasSubstr("(1 failed, the last: no answer)"));
}

TEST(ReportTableTest, ForeignTextCannotMoveTheCursor) {
  Report report = Example();
  report.groups[0].subjects[1].failures = 1;
  report.groups[0].subjects[1].failure = "\x1b[2Jgone";
  report.groups[0].subjects[2].failed = "\x1b[2Jgone";
  EXPECT_THAT(ToTable(report), Not(HasSubstr("\x1b")));
}

TEST(ReportJsonTest, HasTheStableNames) {
  const auto object = nlohmann::json::parse(ToJson(Example()));
  EXPECT_EQ(object["release"], "0.1.0");
  EXPECT_EQ(object["machine"], (nlohmann::json{{"cpus", 2}, {"kernel", "6.1"}, {"cgroup", "v2"}}));
  const auto& group = object["groups"][0];
  EXPECT_EQ(group["name"], "python");
  EXPECT_EQ(group["baseline"], "bare");
  const auto& ours = group["subjects"][1];
  EXPECT_EQ(ours["p50_us"], 290.0);
  EXPECT_EQ(ours["p99_us"], 290.0);
  EXPECT_EQ(ours["min_us"], 290.0);
  EXPECT_EQ(ours["n"], 10);
  EXPECT_EQ(ours["target"], 0.1);
  EXPECT_EQ(ours["met"], true);
  EXPECT_EQ(ours["steps"]["fork"], 145.0);
  EXPECT_EQ(group["subjects"][2]["p50_us"], nullptr);
  EXPECT_EQ(group["subjects"][2]["failed"], "exited with 1");
  EXPECT_EQ(group["subjects"][2]["failure"], "exited with 1");
}

TEST(ReportJsonTest, NamesNoPathOfTheMachine) {
  EXPECT_THAT(ToJson(Example()), Not(HasSubstr("/bin")));
}

TEST(ReportJsonTest, IsReadBackAsItWas) {
  const std::string text = ToJson(Example());
  const auto report = ParseReport(text);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(ToJson(*report), text);
}

struct Malformed {
  std::string text;
  std::string problem;
};

TEST(ReportJsonTest, MalformedResultsAreRefusedWithThePlace) {
  const std::string head = R"({"release":"1","date":"d","machine":{"cpus":1,"kernel":"k","cgroup":"v2"},"groups":)";
  const auto in_group = [&](const std::string& subjects) {
    return head + R"([{"name":"g","baseline":"a","subjects":)" + subjects + "}]}";
  };
  ASSERT_TRUE(ParseReport(in_group(R"([{"name":"a","n":0}])")));
  for (const auto& [text, problem] : std::vector<Malformed>{
           {"", "not JSON"},
           {"{\"release\":", "not JSON: parse error at line 1"},
           {"[]", "not a result of skerry bench"},
           {"{}", "release: must be a text"},
           {head + "{}}", "groups: must be an array"},
           {head + "[3]}", "groups[0].name: must be a text"},
           {in_group("{}"), "groups[0].subjects: must be an array"},
           {in_group(R"([{"name":"a","n":-1}])"), "groups[0].subjects[0].n: must be a whole number"},
           {in_group(R"([{"name":"a","n":1,"p50_us":"x"}])"), "groups[0].subjects[0].p50_us: must be a number"},
           {in_group(R"([{"name":"a","n":1,"p50_us":-2}])"), "groups[0].subjects[0].p50_us: must be a number, 0"},
           {in_group(R"([{"name":"a","n":1,"p50_us":1e300}])"), "groups[0].subjects[0].p50_us: is longer than a day"},
           {in_group(R"([{"name":"a","n":1,"p50_us":1e999}])"), "not JSON"},
           {in_group(R"([{"name":"a","n":0,"steps":[1]}])"), "groups[0].subjects[0].steps: must be an object"},
           {in_group(R"([{"name":"a","n":0},{"name":"a","n":0}])"),
            "groups[0].subjects[1]: the subject 'a' is there twice"},
       }) {
    const auto report = ParseReport(text);
    ASSERT_FALSE(report) << text;
    EXPECT_EQ(report.error().code, base::Code::kInvalidArgument) << text;
    EXPECT_THAT(report.error().message, HasSubstr(problem));
  }
}

TEST(ReadReportTest, AnErrorBeginsWithThePath) {
  const support::TemporaryDirectory directory;
  const std::string path = directory.path() / "result.json";
  EXPECT_THAT(ReadReport(path).error().message, HasSubstr(path));
  std::ofstream(path) << "{}";
  EXPECT_EQ(ReadReport(path).error().message, path + ": release: must be a text");
}

TEST(HumanTest, ThreeDigitsThatMeanSomething) {
  EXPECT_EQ(HumanDuration(microseconds(55)), "0.055 ms");
  EXPECT_EQ(HumanDuration(microseconds(999)), "0.999 ms");
  EXPECT_EQ(HumanDuration(microseconds(1000)), "1.00 ms");
  EXPECT_EQ(HumanDuration(microseconds(16'040)), "16.0 ms");
  EXPECT_EQ(HumanDuration(microseconds(455'000)), "455 ms");
  EXPECT_EQ(HumanDuration(microseconds(999'600)), "1.00 s");
  EXPECT_EQ(HumanDuration(microseconds(32'000'000)), "32.0 s");
  EXPECT_EQ(HumanRatio(0.0181), "0.0181");
  EXPECT_EQ(HumanRatio(0.6), "0.600");
  EXPECT_EQ(HumanRatio(1.5), "1.50");
  EXPECT_EQ(HumanRatio(120), "120");
}

TEST(SurroundingsTest, AreKnownHere) {
  const Surroundings here = Surroundings::Look();
  EXPECT_GT(here.cpus, 0U);
  EXPECT_FALSE(here.kernel.empty());
  EXPECT_FALSE(here.cgroup.empty());
}

TEST(UtcNowTest, IsAnInstantInTheFormOfTheResults) {
  EXPECT_THAT(UtcNow(), ::testing::MatchesRegex("20..-..-..T..:..:..Z"));
}

}  // namespace
}  // namespace skerry::bench
