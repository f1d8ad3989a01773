#include "confirm/code_view.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/printable.hpp"
#include "confirm/line_view.hpp"

namespace skerry::confirm {
namespace {

constexpr std::size_t kMostFindings = 200;

// Lines [begin, end), counted from 0.
struct LineRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The parts of the code that are not shown.
struct LeftOut {
  std::size_t lines = 0;
  std::size_t cut_lines = 0;
  std::size_t characters = 0;  // of the cut lines
  std::size_t findings = 0;
};

// At least one line. The '\r' of a Windows line end is not shown; any other is.
std::vector<std::string_view> SplitLines(std::string_view code) {
  std::vector<std::string_view> lines;
  do {
    const std::size_t end = std::min(code.find('\n'), code.size());
    std::string_view line = code.substr(0, end);
    if (end < code.size() && line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    code.remove_prefix(std::min(end + 1, code.size()));
  } while (!code.empty());
  return lines;
}

// Counts from 0. A finding behind the end, such as a block that is not closed, belongs to the last line.
std::size_t LineOf(const core::Finding& finding, std::size_t line_count) {
  return std::min<std::size_t>(finding.line > 0 ? finding.line - 1 : 0, line_count - 1);
}

// The gravest findings, in the order of the code.
std::vector<const core::Finding*> Choose(std::span<const core::Finding> findings, std::size_t line_count) {
  std::vector<const core::Finding*> chosen;
  for (const auto level : {core::RiskLevel::kCritical, core::RiskLevel::kHigh, core::RiskLevel::kMedium,
                           core::RiskLevel::kLow, core::RiskLevel::kSafe})
    for (const core::Finding& finding : findings)
      if (finding.level == level && finding.source.empty() && chosen.size() < kMostFindings) chosen.push_back(&finding);
  // The address keeps the order of findings at one place.
  std::ranges::sort(chosen, {}, [&](const core::Finding* finding) {
    return std::tuple(LineOf(*finding, line_count), finding->column, finding);
  });
  return chosen;
}

bool FitsWhole(std::span<const std::string_view> lines, const LineViewOptions& line_options, std::size_t max_lines) {
  if (lines.size() > max_lines) return false;
  if (line_options.long_lines == LongLines::kCut) return true;
  std::size_t rows = 0;
  for (const std::string_view line : lines) {
    rows += RowsOf(line, line_options, max_lines - rows);
    if (rows > max_lines) return false;
  }
  return true;
}

std::vector<LineRange> AroundFindings(std::span<const core::Finding* const> findings, std::size_t line_count,
                                      const CodeViewOptions& options) {
  if (findings.empty()) return {{0, std::min(line_count, options.max_lines)}};
  std::vector<LineRange> ranges;
  for (const core::Finding* finding : findings) {
    const std::size_t line = LineOf(*finding, line_count);
    const std::size_t begin = line - std::min(line, options.context);
    const std::size_t end = line + 1 + std::min(line_count - line - 1, options.context);
    // "… 1 line …" would take as much room as the line.
    if (!ranges.empty() && begin <= ranges.back().end + 1)
      ranges.back().end = std::max(ranges.back().end, end);
    else
      ranges.push_back({begin, end});
  }
  return ranges;
}

std::string Count(std::size_t count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

void AddGap(std::string& rows, std::size_t lines, std::size_t digits) {
  if (lines > 0) rows += std::string(digits + 1, ' ') + "… " + Count(lines, "line") + " …\n";
}

std::string Notes(const LeftOut& left_out, std::size_t line_count) {
  std::string notes;
  if (left_out.findings > 0) notes += "and " + Count(left_out.findings, "more finding") + "\n";
  if (left_out.lines > 0)
    notes += std::to_string(left_out.lines) + " of " + Count(line_count, "line") +
             (left_out.lines == 1 ? " is" : " are") + " not shown\n";
  if (left_out.cut_lines > 0)
    notes += Count(left_out.cut_lines, "line") + (left_out.cut_lines == 1 ? " is" : " are") +
             " cut: " + Count(left_out.characters, "character") + (left_out.characters == 1 ? " is" : " are") +
             " not shown\n";
  return notes;
}

// Findings in other code that this code runs; the gravest come first.
std::string FoundElsewhere(std::span<const core::Finding> findings, Colour colour, LeftOut& left_out) {
  constexpr std::size_t kMost = 20;
  std::string rows;
  std::size_t shown = 0;
  for (const core::Finding& finding : findings) {
    if (finding.source.empty()) continue;
    if (++shown > kMost) {
      ++left_out.findings;
      continue;
    }
    rows += base::Printable(finding.source) + ", line " + std::to_string(finding.line) + ": " +
            Coloured(core::NameOf(finding.level), finding.level, colour) + " " + finding.rule + ": " +
            finding.explanation + "\n";
    if (!finding.text.empty() && finding.text != finding.source) rows += "  | " + base::Printable(finding.text) + "\n";
  }
  return rows;
}

}  // namespace

std::string CodeView(std::string_view code, std::span<const core::Finding> findings, const CodeViewOptions& options) {
  const std::vector<std::string_view> lines = SplitLines(code);
  const std::vector<const core::Finding*> chosen = Choose(findings, lines.size());
  LineViewOptions line_options{.colour = options.colour,
                               .long_lines = options.long_lines,
                               .digits = std::to_string(lines.size()).size(),
                               .width = options.width};
  std::vector<LineRange> ranges = {{0, lines.size()}};
  if (!FitsWhole(lines, line_options, options.max_lines)) {
    line_options.long_lines = LongLines::kCut;
    if (lines.size() > options.max_lines) ranges = AroundFindings(chosen, lines.size(), options);
  }

  std::string rows;
  const auto here = static_cast<std::size_t>(
      std::ranges::count_if(findings, [](const core::Finding& finding) { return finding.source.empty(); }));
  LeftOut left_out{.findings = here - chosen.size()};
  std::size_t line = 0;
  auto next = chosen.begin();
  for (const LineRange range : ranges) {
    AddGap(rows, range.begin - line, line_options.digits);
    left_out.lines += range.begin - line;
    for (line = range.begin; line < range.end; ++line) {
      const auto first = next;
      while (next != chosen.end() && LineOf(**next, lines.size()) == line) ++next;
      const std::size_t hidden = AddLine(rows, line + 1, lines[line], {first, next}, line_options);
      if (hidden > 0) ++left_out.cut_lines;
      left_out.characters += hidden;
    }
  }
  AddGap(rows, lines.size() - line, line_options.digits);
  left_out.lines += lines.size() - line;
  rows += FoundElsewhere(findings, options.colour, left_out);
  return rows + Notes(left_out, lines.size());
}

std::string Coloured(std::string_view text, core::RiskLevel level, Colour colour) {
  std::string_view start;
  switch (level) {
    case core::RiskLevel::kCritical:
      start = "\x1b[1;31m";
      break;
    case core::RiskLevel::kHigh:
      start = "\x1b[31m";
      break;
    case core::RiskLevel::kMedium:
      start = "\x1b[33m";
      break;
    case core::RiskLevel::kLow:
      start = "\x1b[36m";
      break;
    case core::RiskLevel::kSafe:
      break;
  }
  if (start.empty() || colour == Colour::kNone) return std::string(text);
  return std::string(start).append(text).append("\x1b[0m");
}

}  // namespace skerry::confirm
