#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/printable.hpp"
#include "bench/report.hpp"

namespace skerry::bench {
namespace {

std::string Fixed(double value, int decimals) {
  std::string text(64, '\0');
  const int size = std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  text.resize(std::min(static_cast<std::size_t>(std::max(size, 0)), text.size() - 1));
  return text;
}

// As many decimals as leave about three digits.
int DecimalsFor(double value) {
  if (value >= 99.95) return 0;
  if (value >= 9.995) return 1;
  return value >= 0.9995 ? 2 : 3;
}

// Columns count characters as terminals show them: continuation bytes of UTF-8 take no place.
std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::string Left(const std::string& text, std::size_t width) {
  return text + std::string(width > Width(text) ? width - Width(text) : 1, ' ');
}

std::string Right(const std::string& text, std::size_t width) {
  return std::string(width > Width(text) ? width - Width(text) : 1, ' ') + text;
}

constexpr std::size_t kNameWidth = 16;
constexpr std::size_t kFigureWidth = 10;

std::string TargetText(const Target& target) {
  std::string text;
  if (target.ratio) text = "≤ " + HumanRatio(*target.ratio);
  if (target.p50) text += (text.empty() ? "≤ " : ", ") + HumanDuration(*target.p50);
  return text;
}

std::string MetText(const SubjectFigures& subject) {
  if (!subject.target.ratio && !subject.target.p50) return "";
  if (!subject.met) return "unknown";
  return *subject.met ? "met" : "MISSED";
}

std::string SubjectLine(const SubjectFigures& subject) {
  std::string line = "  " + Left(base::Printable(subject.name), kNameWidth);
  if (!subject.skipped.empty()) return line + "  not measured: " + base::Printable(subject.skipped);
  if (!subject.failed.empty()) return line + "  FAILED: " + base::Printable(subject.failed);
  if (subject.n == 0) return line + "  not measured: no run ended";
  for (const std::string& text :
       {HumanDuration(subject.p50), HumanDuration(subject.p99),
        subject.ratio ? HumanRatio(*subject.ratio) : std::string("-"), std::to_string(subject.n)})
    line += Right(text, kFigureWidth);
  if (subject.target.ratio || subject.target.p50)
    line += "   " + Left(TargetText(subject.target), kFigureWidth + 4) + MetText(subject);
  if (subject.failures > 0)
    line += "   (" + std::to_string(subject.failures) + " failed, the last: " + base::Printable(subject.failure) + ")";
  return line;
}

// The longest step first.
std::string StepLines(const SubjectFigures& subject) {
  std::vector<std::pair<std::string, Duration>> steps(subject.steps.begin(), subject.steps.end());
  std::ranges::sort(steps, std::ranges::greater(), &std::pair<std::string, Duration>::second);
  std::string lines;
  for (const auto& [name, duration] : steps)
    lines += "    " + Left(base::Printable(name), kNameWidth - 2) + Right(HumanDuration(duration), kFigureWidth) + "\n";
  return lines;
}

std::string GroupBlock(const GroupFigures& group) {
  std::string block = base::Printable(group.title.empty() ? group.name : group.title) + "\n";
  if (group.subjects.empty()) return block + "  nothing to measure\n\n";
  block += "  " + Left("", kNameWidth);
  for (const char* heading : {"p50", "p99", "ratio", "n"}) block += Right(heading, kFigureWidth);
  block += "   target\n";
  for (const SubjectFigures& subject : group.subjects) block += SubjectLine(subject) + "\n" + StepLines(subject);
  return block + "\n";
}

}  // namespace

std::string HumanDuration(Duration duration) {
  const double milliseconds = std::chrono::duration<double, std::milli>(duration).count();
  if (milliseconds >= 999.5) return Fixed(milliseconds / 1000, DecimalsFor(milliseconds / 1000)) + " s";
  return Fixed(milliseconds, DecimalsFor(milliseconds)) + " ms";
}

std::string HumanRatio(double ratio) {
  return Fixed(ratio, ratio < 0.0995 ? 4 : DecimalsFor(ratio));
}

std::string ToTable(const Report& report) {
  std::string text = "skerry " + base::Printable(report.release) + " on " + std::to_string(report.machine.cpus) +
                     " CPUs, Linux " + base::Printable(report.machine.kernel) + ", cgroup " +
                     base::Printable(report.machine.cgroup) + "\n";
  text += "Ratios are of the p50 to that of the subject whose ratio is 1.00, measured in turns.\n\n";
  for (const GroupFigures& group : report.groups) text += GroupBlock(group);
  std::string commands;
  for (const GroupFigures& group : report.groups)
    for (const SubjectFigures& subject : group.subjects)
      if (!subject.detail.empty())
        commands += "  " + Left(group.name + " " + subject.name, kNameWidth + 6) + subject.detail + "\n";
  return commands.empty() ? text : text + "What ran\n" + commands;
}

}  // namespace skerry::bench
