#include "text/line_diff.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>

namespace skerry::text {
namespace {

using Number = std::uint32_t;  // of a line: equal lines have the same number
using Index = std::ptrdiff_t;

struct NumberedLines {
  std::vector<Number> before;
  std::vector<Number> after;
};

// Numbers lines by sorting: an attacker who chooses the lines could make a hash table slow.
NumberedLines NumberLines(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after) {
  struct Line {
    std::string_view text;
    Number* number;
  };
  NumberedLines numbered{std::vector<Number>(before.size()), std::vector<Number>(after.size())};
  std::vector<Line> lines;
  lines.reserve(before.size() + after.size());
  for (std::size_t i = 0; i < before.size(); ++i) lines.push_back({before[i], &numbered.before[i]});
  for (std::size_t i = 0; i < after.size(); ++i) lines.push_back({after[i], &numbered.after[i]});
  std::ranges::sort(lines, [](const Line& left, const Line& right) {
    if (left.text.size() != right.text.size()) return left.text.size() < right.text.size();
    return left.text < right.text;
  });
  Number number = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0 && lines[i].text != lines[i - 1].text) ++number;
    *lines[i].number = number;
  }
  return numbered;
}

// A part of both sequences; the `to` ends are exclusive.
struct Box {
  Index before_from = 0;
  Index before_to = 0;
  Index after_from = 0;
  Index after_to = 0;
};

struct Split {
  Index before = 0;
  Index after = 0;
};

// E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", section 4b. Marks the lines that are not common.
class Search {
 public:
  Search(std::span<const Number> before, std::span<const Number> after, std::size_t max_work)
      : before_(before),
        after_(after),
        work_left_(max_work),
        offset_(std::ssize(after) + 1),
        forward_(before.size() + after.size() + 3),
        backward_(before.size() + after.size() + 3),
        before_changed_(before.size()),
        after_changed_(after.size()) {
    Compare({0, std::ssize(before), 0, std::ssize(after)});
  }

  [[nodiscard]] bool BeforeChanged(std::size_t i) const { return before_changed_[i]; }
  [[nodiscard]] bool AfterChanged(std::size_t i) const { return after_changed_[i]; }

 private:
  // How far the paths got on the diagonals (before minus after) from `low` to `high`.
  struct Front {
    Index low;
    Index high;
  };

  [[nodiscard]] bool Same(Index before, Index after) const {
    return before_[static_cast<std::size_t>(before)] == after_[static_cast<std::size_t>(after)];
  }
  Index& Forward(Index diagonal) { return forward_[static_cast<std::size_t>(diagonal + offset_)]; }
  Index& Backward(Index diagonal) { return backward_[static_cast<std::size_t>(diagonal + offset_)]; }
  void Spend(Index steps) { work_left_ -= std::min(work_left_, static_cast<std::size_t>(steps)); }

  void Compare(Box box);
  void MarkAll(const Box& box);
  std::optional<Split> FindMiddle(const Box& box);
  std::optional<Split> StepForward(const Box& box, Front& front, const Front& other);
  std::optional<Split> StepBackward(const Box& box, Front& front, const Front& other);

  std::span<const Number> before_;
  std::span<const Number> after_;
  std::size_t work_left_;
  Index offset_;
  std::vector<Index> forward_;
  std::vector<Index> backward_;
  std::vector<bool> before_changed_;
  std::vector<bool> after_changed_;
};

// Each half has half of the differences, so that the recursion is no deeper than their logarithm.
void Search::Compare(Box box) {
  while (box.before_from < box.before_to && box.after_from < box.after_to && Same(box.before_from, box.after_from)) {
    ++box.before_from;
    ++box.after_from;
  }
  while (box.before_from < box.before_to && box.after_from < box.after_to &&
         Same(box.before_to - 1, box.after_to - 1)) {
    --box.before_to;
    --box.after_to;
  }
  const bool one_side = box.before_from == box.before_to || box.after_from == box.after_to;
  const auto middle = one_side ? std::nullopt : FindMiddle(box);
  if (!middle) return MarkAll(box);
  Compare({box.before_from, middle->before, box.after_from, middle->after});
  Compare({middle->before, box.before_to, middle->after, box.after_to});
}

void Search::MarkAll(const Box& box) {
  std::fill(before_changed_.begin() + box.before_from, before_changed_.begin() + box.before_to, true);
  std::fill(after_changed_.begin() + box.after_from, after_changed_.begin() + box.after_to, true);
}

// A point about half way on a shortest path. Nothing when the work is used up.
std::optional<Split> Search::FindMiddle(const Box& box) {
  const Index first = box.before_from - box.after_from;
  const Index last = box.before_to - box.after_to;
  const bool odd = ((first - last) & 1) != 0;
  Front forward{first, first};
  Front backward{last, last};
  constexpr Front kNone{1, 0};
  Forward(first) = box.before_from;
  Backward(last) = box.before_to;
  while (work_left_ > 0) {
    if (const auto split = StepForward(box, forward, odd ? backward : kNone)) return split;
    if (const auto split = StepBackward(box, backward, odd ? kNone : forward)) return split;
  }
  return std::nullopt;
}

// Extends the paths from the front by one difference. A split where a path meets one of the `other` front.
std::optional<Split> Search::StepForward(const Box& box, Front& front, const Front& other) {
  // Only diagonals inside the box count.
  if (front.low > box.before_from - box.after_to) {
    --front.low;
    Forward(front.low - 1) = -1;
  } else {
    ++front.low;
  }
  if (front.high < box.before_to - box.after_from) {
    ++front.high;
    Forward(front.high + 1) = -1;
  } else {
    --front.high;
  }
  for (Index diagonal = front.high; diagonal >= front.low; diagonal -= 2) {
    Index at = std::max(Forward(diagonal - 1) + 1, Forward(diagonal + 1));
    const Index begin = at;
    while (at < box.before_to && at - diagonal < box.after_to && Same(at, at - diagonal)) ++at;
    Spend(at - begin + 1);
    Forward(diagonal) = at;
    const bool meets = diagonal >= other.low && diagonal <= other.high && Backward(diagonal) <= at;
    if (meets) return Split{at, at - diagonal};
  }
  return std::nullopt;
}

// The same from the back.
std::optional<Split> Search::StepBackward(const Box& box, Front& front, const Front& other) {
  constexpr Index kFar = PTRDIFF_MAX;
  if (front.low > box.before_from - box.after_to) {
    --front.low;
    Backward(front.low - 1) = kFar;
  } else {
    ++front.low;
  }
  if (front.high < box.before_to - box.after_from) {
    ++front.high;
    Backward(front.high + 1) = kFar;
  } else {
    --front.high;
  }
  for (Index diagonal = front.high; diagonal >= front.low; diagonal -= 2) {
    Index at = std::min(Backward(diagonal - 1), Backward(diagonal + 1) - 1);
    const Index begin = at;
    while (at > box.before_from && at - diagonal > box.after_from && Same(at - 1, at - 1 - diagonal)) --at;
    Spend(begin - at + 1);
    Backward(diagonal) = at;
    const bool meets = diagonal >= other.low && diagonal <= other.high && at <= Forward(diagonal);
    if (meets) return Split{at, at - diagonal};
  }
  return std::nullopt;
}

// The lines that the other side has too, with their places. The other lines cannot be common, so leaving them out only
// saves work.
struct Candidates {
  std::vector<Number> numbers;
  std::vector<std::size_t> places;
};

Candidates CandidatesOf(const std::vector<Number>& lines, const std::vector<Number>& other, std::size_t numbers) {
  std::vector<bool> there(numbers);
  for (const Number number : other) there[number] = true;
  Candidates candidates;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!there[lines[i]]) continue;
    candidates.numbers.push_back(lines[i]);
    candidates.places.push_back(i);
  }
  return candidates;
}

// The common lines are the candidates that are not changed; both sides have as many of them.
std::vector<ChangedRun> RunsOf(const NumberedLines& lines, std::size_t max_work) {
  const std::size_t numbers = lines.before.size() + lines.after.size();
  const Candidates before = CandidatesOf(lines.before, lines.after, numbers);
  const Candidates after = CandidatesOf(lines.after, lines.before, numbers);
  const Search search(before.numbers, after.numbers, max_work);

  std::vector<ChangedRun> runs;
  ChangedRun run;
  const auto close = [&](std::size_t before_at, std::size_t after_at) {
    run.before_count = before_at - run.before;
    run.after_count = after_at - run.after;
    if (run.before_count + run.after_count > 0) runs.push_back(run);
    run = {before_at + 1, 0, after_at + 1, 0};
  };
  std::size_t j = 0;
  for (std::size_t i = 0; i < before.numbers.size(); ++i) {
    if (search.BeforeChanged(i)) continue;
    while (search.AfterChanged(j)) ++j;
    close(before.places[i], after.places[j++]);
  }
  close(lines.before.size(), lines.after.size());
  return runs;
}

// A run on one side only can often stand at several places: people expect it at the last one (an added function ends
// with its own brace, it does not begin with the brace of the function before). `end` is where the next run begins.
void SlideDown(ChangedRun& run, std::size_t end, const NumberedLines& lines) {
  if (run.before_count != 0 && run.after_count != 0) return;
  const auto& side = run.before_count != 0 ? lines.before : lines.after;
  const std::size_t count = run.before_count + run.after_count;
  std::size_t first = run.before_count != 0 ? run.before : run.after;
  for (; run.before + run.before_count < end && side[first] == side[first + count]; ++first) {
    ++run.before;
    ++run.after;
  }
}

// From the back to the front: a run that slides to the next one becomes one run with it.
std::vector<ChangedRun> Slid(const std::vector<ChangedRun>& runs, const NumberedLines& lines) {
  std::vector<ChangedRun> slid;
  for (ChangedRun run : std::views::reverse(runs)) {
    const std::size_t end = slid.empty() ? lines.before.size() : slid.back().before;
    SlideDown(run, end, lines);
    if (!slid.empty() && run.before + run.before_count == end) {
      run.before_count += slid.back().before_count;
      run.after_count += slid.back().after_count;
      slid.pop_back();
    }
    slid.push_back(run);
  }
  std::ranges::reverse(slid);
  return slid;
}

}  // namespace

std::vector<ChangedRun> DiffLines(const std::vector<std::string_view>& before,
                                  const std::vector<std::string_view>& after, std::size_t max_work) {
  const NumberedLines lines = NumberLines(before, after);
  return Slid(RunsOf(lines, max_work), lines);
}

}  // namespace skerry::text
