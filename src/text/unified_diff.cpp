#include "text/unified_diff.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "text/line_diff.hpp"
#include "text/line_ends.hpp"

namespace skerry::text {
namespace {

// More lines are not compared one by one: their list would take many times the memory of the texts.
constexpr std::size_t kMaxComparedLines = 2'000'000;
// A change may be moved down by so many lines from the first place where it could stand.
constexpr std::size_t kSlideLines = 100;

// Both texts without their common lines at the beginning and at the end.
struct Part {
  std::size_t lines_in_front = 0;
  std::string_view context_in_front;
  std::string_view before;
  std::string_view after;
  std::string_view behind;  // the common end of both texts
};

// Where the last `count` lines of `text` begin, which ends with a line end.
std::size_t LastLines(std::string_view text, std::size_t count) {
  std::size_t at = text.size();
  for (; count > 0 && at > 0; --count) {
    const std::size_t feed = at < 2 ? std::string_view::npos : text.rfind('\n', at - 2);
    at = feed == std::string_view::npos ? 0 : feed + 1;
  }
  return at;
}

// Where the first `count` lines of `text` end.
std::size_t FirstLines(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) {
    const std::size_t feed = text.find('\n', at);
    at = feed == std::string_view::npos ? text.size() : feed + 1;
  }
  return at;
}

Part DifferingPart(std::string_view before, std::string_view after, std::size_t context) {
  const auto same = static_cast<std::size_t>(std::ranges::mismatch(before, after).in1 - before.begin());
  const std::size_t front = same == 0 ? 0 : before.rfind('\n', same - 1) + 1;  // npos + 1 is 0
  const std::string_view common = before.substr(0, front);
  before.remove_prefix(front);
  after.remove_prefix(front);

  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t back = 0;
  while (back < shorter && before[before.size() - 1 - back] == after[after.size() - 1 - back]) ++back;
  // Moves to the next beginning of a line, which must be one on both sides.
  const auto at_line = [back](std::string_view text) {
    return back == text.size() || text[text.size() - 1 - back] == '\n';
  };
  if (!at_line(before) || !at_line(after)) {
    const std::size_t feed = before.find('\n', before.size() - back);
    back = feed == std::string_view::npos ? 0 : before.size() - feed - 1;
  }
  const std::size_t shown = LastLines(common, context);
  return {static_cast<std::size_t>(std::ranges::count(common.substr(0, shown), '\n')), common.substr(shown),
          before.substr(0, before.size() - back), after.substr(0, after.size() - back),
          before.substr(before.size() - back)};
}

void AppendLine(std::string& hunks, char sign, std::string_view line) {
  hunks += sign;
  hunks += line;
  if (!line.ends_with('\n')) hunks += "\n\\ No newline at end of file\n";
}

void AppendLines(std::string& hunks, char sign, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, FirstLines(text, 1));
    AppendLine(hunks, sign, line);
    text.remove_prefix(line.size());
  }
}

// "12,3"; a range of no lines names the line in front of it.
std::string RangeText(std::size_t first, std::size_t count) {
  const std::string start = std::to_string(count == 0 ? first : first + 1);
  return count == 1 ? start : start + "," + std::to_string(count);
}

std::string HunkHeader(const ChangedRun& lines) {
  return "@@ -" + RangeText(lines.before, lines.before_count) + " +" + RangeText(lines.after, lines.after_count) +
         " @@\n";
}

std::string OneBlock(const Part& part, std::size_t context_lines) {
  const std::string_view context_behind = part.behind.substr(0, FirstLines(part.behind, context_lines));
  const std::size_t context = CountLines(part.context_in_front) + CountLines(context_behind);
  std::string hunk = HunkHeader(
      {part.lines_in_front, CountLines(part.before) + context, part.lines_in_front, CountLines(part.after) + context});
  AppendLines(hunk, ' ', part.context_in_front);
  AppendLines(hunk, '-', part.before);
  AppendLines(hunk, '+', part.after);
  AppendLines(hunk, ' ', context_behind);
  return hunk;
}

using Lines = std::vector<std::string_view>;

void AddLines(Lines& lines, std::string_view text) {
  while (!text.empty()) {
    lines.push_back(text.substr(0, FirstLines(text, 1)));
    text.remove_prefix(lines.back().size());
  }
}

// Writes runs that are close to each other as one hunk.
class HunkWriter {
 public:
  HunkWriter(const Lines& before, const Lines& after, std::size_t lines_in_front, std::size_t context)
      : before_(before), after_(after), lines_in_front_(lines_in_front), context_(context) {}

  std::string Write(const std::vector<ChangedRun>& runs) {
    for (std::size_t first = 0; first < runs.size();) {
      std::size_t last = first;
      while (last + 1 < runs.size() && Gap(runs[last], runs[last + 1]) <= 2 * context_) ++last;
      WriteHunk(
          {runs.begin() + static_cast<std::ptrdiff_t>(first), runs.begin() + static_cast<std::ptrdiff_t>(last) + 1});
      first = last + 1;
    }
    return std::move(hunks_);
  }

 private:
  static std::size_t Gap(const ChangedRun& run, const ChangedRun& next) {
    return next.before - run.before - run.before_count;
  }

  void WriteHunk(const std::vector<ChangedRun>& runs) {
    const ChangedRun& first = runs.front();
    const ChangedRun& last = runs.back();
    const std::size_t front = std::min(context_, first.before);
    const std::size_t last_end = last.before + last.before_count;
    const std::size_t end = last_end + std::min(context_, before_.size() - last_end);
    const std::size_t after_end = last.after + last.after_count + (end - last_end);
    hunks_ += HunkHeader({lines_in_front_ + first.before - front, end - first.before + front,
                          lines_in_front_ + first.after - front, after_end - first.after + front});
    std::size_t at = first.before - front;
    for (const ChangedRun& run : runs) {
      AppendRange(' ', before_, at, run.before);
      AppendRange('-', before_, run.before, run.before + run.before_count);
      AppendRange('+', after_, run.after, run.after + run.after_count);
      at = run.before + run.before_count;
    }
    AppendRange(' ', before_, at, end);
  }

  void AppendRange(char sign, const Lines& lines, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) AppendLine(hunks_, sign, lines[i]);
  }

  const Lines& before_;
  const Lines& after_;
  std::size_t lines_in_front_;
  std::size_t context_;
  std::string hunks_;
};

}  // namespace

std::string UnifiedHunks(std::string_view before, std::string_view after, const DiffOptions& options) {
  if (before == after) return {};
  const Part part = DifferingPart(before, after, options.context);
  if (CountLines(part.before) + CountLines(part.after) > kMaxComparedLines) return OneBlock(part, options.context);
  const std::size_t slide = FirstLines(part.behind, kSlideLines);
  Lines before_lines;
  Lines after_lines;
  for (const std::string_view text : {part.context_in_front, part.before, part.behind.substr(0, slide)}) {
    AddLines(before_lines, text);
  }
  for (const std::string_view text : {part.context_in_front, part.after, part.behind.substr(0, slide)}) {
    AddLines(after_lines, text);
  }
  const auto runs = DiffLines(before_lines, after_lines, options.max_work);
  const std::string_view rest = part.behind.substr(slide);
  AddLines(before_lines, rest.substr(0, FirstLines(rest, options.context)));
  return HunkWriter(before_lines, after_lines, part.lines_in_front, options.context).Write(runs);
}

}  // namespace skerry::text
