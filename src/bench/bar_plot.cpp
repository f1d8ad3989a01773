#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "bench/plot.hpp"
#include "bench/svg.hpp"

namespace skerry::bench {
namespace {

constexpr double kWidth = 880;
constexpr double kLeft = 130;
constexpr double kRight = 690;  // figures stand right of the bars
constexpr double kTimes = 775;
constexpr double kRatios = 855;
constexpr double kTop = 56;
constexpr double kRow = 20;
constexpr double kHeading = 30;
constexpr double kFooter = 44;

constexpr std::string_view kOurs = "#0b7a55";
constexpr std::string_view kTheirs = "#93a5b5";
constexpr std::string_view kWhisker = "#3e4c59";
constexpr std::string_view kGrid = "#e4e7eb";
constexpr std::string_view kQuiet = "#616e7c";
constexpr std::string_view kTarget = "#c0392b";

double Microseconds(Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

bool IsDrawn(const SubjectFigures& subject) {
  return subject.n > 0 && subject.p50 > Duration{} && subject.failed.empty();
}

// The target of a subject as a time; 0 for none.
double TargetMicroseconds(const GroupFigures& group, const SubjectFigures& subject) {
  if (!subject.target.ratio) return subject.target.p50 ? Microseconds(*subject.target.p50) : 0;
  const SubjectFigures* const baseline = group.Find(group.baseline);
  if (baseline == nullptr || !IsDrawn(*baseline)) return 0;
  return *subject.target.ratio * Microseconds(baseline->p50);
}

// Whole powers of ten around everything that is drawn.
struct Scale {
  int first = 0;
  int last = 1;

  [[nodiscard]] double X(double microseconds) const {
    const double share = (std::log10(microseconds) - first) / (last - first);
    return kLeft + std::clamp(share, 0.0, 1.0) * (kRight - kLeft);
  }
};

Scale ScaleOf(const Report& report) {
  double smallest = INFINITY;
  double largest = 0;
  const auto include = [&](double microseconds) {
    if (microseconds <= 0) return;
    smallest = std::min(smallest, microseconds);
    largest = std::max(largest, microseconds);
  };
  for (const GroupFigures& group : report.groups) {
    for (const SubjectFigures& subject : group.subjects) {
      if (!IsDrawn(subject)) continue;
      include(Microseconds(subject.p50));
      include(Microseconds(subject.p99));
      include(TargetMicroseconds(group, subject));
    }
  }
  if (largest == 0) return {};
  // The scale begins a little left of the smallest value, so that its bar has a length.
  Scale scale{static_cast<int>(std::floor(std::log10(smallest * 0.8))),
              static_cast<int>(std::ceil(std::log10(largest)))};
  scale.last = std::max(scale.last, scale.first + 1);
  return scale;
}

std::string DecadeText(int exponent) {
  const double microseconds = std::pow(10.0, exponent);
  const auto whole = [](double value) { return std::to_string(std::lround(value)); };
  if (exponent < 0) return "< 1 µs";
  if (exponent < 3) return whole(microseconds) + " µs";
  return exponent < 6 ? whole(microseconds / 1e3) + " ms" : whole(microseconds / 1e6) + " s";
}

bool IsShown(const GroupFigures& group) {
  return std::ranges::any_of(group.subjects, IsDrawn);
}

double HeightOf(const Report& report) {
  double height = kTop + kFooter;
  for (const GroupFigures& group : report.groups)
    if (IsShown(group)) height += kHeading + kRow * static_cast<double>(std::ranges::count_if(group.subjects, IsDrawn));
  return height;
}

void DrawGrid(SvgDrawing& drawing, const Scale& scale, double bottom) {
  for (int exponent = scale.first; exponent <= scale.last; ++exponent) {
    const double x = scale.X(std::pow(10.0, exponent));
    drawing.Line({x, kTop}, {x, bottom}, kGrid);
    drawing.Text(
        {.at = {x, bottom + 16}, .text = DecadeText(exponent), .anchor = Anchor::kMiddle, .size = 11, .color = kQuiet});
  }
}

void DrawSubject(SvgDrawing& drawing, const Scale& scale, const GroupFigures& group, const SubjectFigures& subject,
                 double y) {
  constexpr double kThickness = 12;
  const double middle = y + kThickness / 2;
  const bool ours = subject.name.starts_with("skerry");
  const double end = scale.X(Microseconds(subject.p50));
  const double tip = std::max(scale.X(Microseconds(subject.p99)), end);
  const std::string_view weight = ours ? "bold" : "normal";
  drawing.Text({.at = {kLeft - 8, y + 10}, .text = subject.name, .anchor = Anchor::kEnd, .weight = weight});
  drawing.Box({kLeft, y}, end - kLeft, kThickness, ours ? kOurs : kTheirs);
  drawing.Line({end, middle}, {tip, middle}, kWhisker);
  drawing.Line({tip, middle - 4}, {tip, middle + 4}, kWhisker);
  if (const double target = TargetMicroseconds(group, subject); target > 0)
    drawing.Line({scale.X(target), y - 2}, {scale.X(target), y + kThickness + 2}, kTarget, 2);
  drawing.Text({.at = {kTimes, y + 10}, .text = HumanDuration(subject.p50), .anchor = Anchor::kEnd, .weight = weight});
  if (subject.ratio)
    drawing.Text(
        {.at = {kRatios, y + 10}, .text = HumanRatio(*subject.ratio), .anchor = Anchor::kEnd, .weight = weight});
}

void DrawHead(SvgDrawing& drawing, const Report& report) {
  drawing.Text(
      {.at = {16, 24}, .text = "skerry " + report.release + ", how long it takes", .size = 16, .weight = "bold"});
  drawing.Text({.at = {16, 42},
                .text = "bar: p50, whisker: p99, red mark: target; " + std::to_string(report.machine.cpus) + " CPUs",
                .size = 11,
                .color = kQuiet});
  for (const auto& [x, heading] : {std::pair(kTimes, "p50"), std::pair(kRatios, "to baseline")})
    drawing.Text({.at = {x, 42}, .text = heading, .anchor = Anchor::kEnd, .size = 11, .color = kQuiet});
}

}  // namespace

std::string BarPlot(const Report& report) {
  const double height = HeightOf(report);
  SvgDrawing drawing(kWidth, height, "skerry bench " + report.release);
  DrawHead(drawing, report);
  const Scale scale = ScaleOf(report);
  DrawGrid(drawing, scale, height - kFooter + 8);
  double y = kTop;
  for (const GroupFigures& group : report.groups) {
    if (!IsShown(group)) continue;
    drawing.Text(
        {.at = {16, y + 19}, .text = group.title.empty() ? group.name : group.title, .size = 13, .weight = "bold"});
    y += kHeading;
    for (const SubjectFigures& subject : group.subjects) {
      if (!IsDrawn(subject)) continue;
      DrawSubject(drawing, scale, group, subject, y);
      y += kRow;
    }
  }
  if (y == kTop) drawing.Text({.at = {kLeft, kTop + 16}, .text = "nothing was measured", .color = kQuiet});
  return drawing.Finish();
}

}  // namespace skerry::bench
