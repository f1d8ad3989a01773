#include "bench/plot.hpp"

#include <algorithm>
#include <cmath>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/svg.hpp"

namespace skerry::bench {
namespace {

using std::chrono::microseconds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

SubjectFigures Measured(const std::string& name, Duration p50) {
  return {.name = name, .p50 = p50, .p99 = p50 * 2, .n = 10};
}

Report Of(std::vector<SubjectFigures> subjects) {
  return {.release = "1", .groups = {{.name = "g", .title = "G", .baseline = "bare", .subjects = std::move(subjects)}}};
}

// The widths of all boxes except the background.
std::vector<double> BarWidths(const std::string& svg) {
  static const std::regex kBox("<rect x=\"130.0\" y=\"[0-9.]+\" width=\"([-0-9.]+)\"");
  std::vector<double> widths;
  for (std::sregex_iterator at(svg.begin(), svg.end(), kBox); at != std::sregex_iterator(); ++at)
    widths.push_back(std::stod((*at)[1]));
  return widths;
}

TEST(XmlTextTest, CannotEndWhatItStandsIn) {
  EXPECT_EQ(XmlText("<a href=\"x\">&\x01\xff"), "&lt;a href=&quot;x&quot;&gt;&amp;\xEF\xBF\xBD");
}

TEST(BarPlotTest, TenTimesAsLongIsOneStepFurtherRight) {
  const auto widths = BarWidths(BarPlot(
      Of({Measured("skerry", microseconds(20)), Measured("a", microseconds(200)), Measured("b", microseconds(2000))})));
  ASSERT_EQ(widths.size(), 3U);
  EXPECT_GT(widths[0], 0);
  EXPECT_NEAR(widths[1] - widths[0], widths[2] - widths[1], 0.2);
  EXPECT_GT(widths[1], widths[0] + 10);
}

TEST(BarPlotTest, HasTheNamesAndAWhiteGround) {
  const std::string svg = BarPlot(Of({Measured("docker <run>", microseconds(20))}));
  EXPECT_THAT(svg, HasSubstr("docker &lt;run&gt;"));
  EXPECT_THAT(svg, HasSubstr("fill=\"#ffffff\""));
  EXPECT_THAT(svg, ::testing::EndsWith("</svg>\n"));
}

TEST(BarPlotTest, WhatWasNotMeasuredHasNoBar) {
  SubjectFigures failed = Measured("srt", microseconds(20));
  failed.failed = "broken";
  const std::string svg = BarPlot(Of({Measured("bare", microseconds(20)), failed, {.name = "docker", .skipped = "x"}}));
  EXPECT_EQ(BarWidths(svg).size(), 1U);
  EXPECT_THAT(svg, Not(HasSubstr("docker")));
}

TEST(BarPlotTest, ATargetIsMarked) {
  SubjectFigures ours = Measured("skerry", microseconds(20));
  const std::string without = BarPlot(Of({Measured("bare", microseconds(1000)), ours}));
  ours.target.ratio = 0.1;
  const std::string with = BarPlot(Of({Measured("bare", microseconds(1000)), ours}));
  EXPECT_THAT(without, Not(HasSubstr("stroke=\"#c0392b\"")));
  EXPECT_THAT(with, HasSubstr("stroke=\"#c0392b\""));
}

TEST(BarPlotTest, AnEmptyReportIsStillAPicture) {
  EXPECT_THAT(BarPlot({}), HasSubstr("nothing was measured"));
  EXPECT_THAT(BarPlot({}), Not(HasSubstr("nan")));
}

TEST(DownsampleTest, KeepsEveryPeak) {
  std::vector<double> values(10'000, 1.0);
  values[4321] = 99;
  values[8765] = -5;
  const auto points = Downsample(values, 100);
  EXPECT_LE(points.size(), 100U);
  EXPECT_THAT(points, Contains(SeriesPoint{4321, 99}));
  EXPECT_THAT(points, Contains(SeriesPoint{8765, -5}));
  EXPECT_TRUE(std::ranges::is_sorted(points, {}, &SeriesPoint::run));
}

TEST(DownsampleTest, FewValuesStayAsTheyAre) {
  EXPECT_EQ(Downsample({3, 1, 2}, 100), (std::vector<SeriesPoint>{{0, 3}, {1, 1}, {2, 2}}));
  EXPECT_TRUE(Downsample({}, 100).empty());
}

TEST(DownsampleTest, WhatIsNoNumberIsDropped) {
  EXPECT_EQ(Downsample({1, NAN, INFINITY, 4}, 100), (std::vector<SeriesPoint>{{0, 1}, {3, 4}}));
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(LinePlotTest, SeriesOfOneUnitShareAPanelAndOthersDoNot) {
  const std::string svg = LinePlot(
      {.title = "10,000 runs",
       .x_label = "run",
       .series = {{"launcher", "MB", {1, 2, 3}}, {"zygote", "MB", {4, 5, 6}}, {"descriptors", "count", {7, 7, 7}}}});
  EXPECT_EQ(CountOf(svg, "<polyline"), 3U);
  EXPECT_EQ(CountOf(svg, ">MB</text>"), 1U);
  EXPECT_EQ(CountOf(svg, ">count</text>"), 1U);
  for (const char* name : {"launcher", "zygote", "descriptors", "10,000 runs"}) EXPECT_THAT(svg, HasSubstr(name));
}

TEST(LinePlotTest, TenThousandRunsStaySmall) {
  const std::string svg = LinePlot({.title = "t", .x_label = "run", .series = {{"a", "ms", std::vector(10'000, 1.5)}}});
  EXPECT_LT(svg.size(), 20'000U);
  EXPECT_THAT(svg, HasSubstr(">10000</text>"));
}

TEST(LinePlotTest, NothingToDrawIsStillAPicture) {
  for (const LinePlotInput& input :
       {LinePlotInput{}, LinePlotInput{.series = {{"a", "ms", {}}}}, LinePlotInput{.series = {{"a", "ms", {NAN}}}}}) {
    EXPECT_THAT(LinePlot(input), ::testing::EndsWith("</svg>\n"));
    EXPECT_THAT(LinePlot(input), Not(HasSubstr("nan")));
  }
}

}  // namespace
}  // namespace skerry::bench
