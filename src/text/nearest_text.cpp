#include "text/nearest_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "base/printable.hpp"
#include "text/line_ends.hpp"
#include "text/similar_place.hpp"
#include "text/text_folding.hpp"

namespace skerry::text {
namespace {

constexpr std::size_t kMaxExcerptLines = 10;
constexpr std::size_t kMaxExcerptBytes = 600;
constexpr std::size_t kMaxLineBytes = 200;
constexpr std::size_t kLeadBytes = 40;      // of a long line, shown in front of the place of interest
constexpr std::size_t kMarginBytes = 1024;  // compared before the place and behind it

struct Difference {
  unsigned folding;
  std::string_view name;
};

// The first fold that makes both texts equal names the difference, so the narrow ones come first.
constexpr std::array kDifferences = {
    Difference{kFoldLineEnds, "the kind of line end differs"},
    Difference{kFoldLineTails, "white space at the ends of lines differs"},
    Difference{kFoldIndents, "the indentation differs"},
    Difference{kFoldIndents | kFoldLineTails, "the indentation and white space at the ends of lines differ"},
    Difference{kFoldSpaces, "white space differs"},
    Difference{kFoldCase, "upper and lower case differ"},
    Difference{kFoldTwins, "characters that look alike differ (quotes, dashes, accents, spaces, foreign letters)"},
    Difference{kFoldSpaces | kFoldCase, "white space and upper and lower case differ"},
    Difference{kFoldSpaces | kFoldTwins, "white space and characters that look alike differ"},
    Difference{kFoldCase | kFoldTwins, "upper and lower case and characters that look alike differ"},
    Difference{kSkeleton, "white space, upper and lower case and characters that look alike differ"},
};

std::string_view TakeLine(std::string_view& text) {
  const std::size_t feed = text.find('\n');
  std::string_view line = text.substr(0, feed);
  text.remove_prefix(feed == std::string_view::npos ? text.size() : feed + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// With memmem: std::string's own search can take the product of both sizes.
bool Contains(std::string_view text, std::string_view wanted) {
  return ::memmem(text.data(), text.size(), wanted.data(), wanted.size()) != nullptr;
}

bool IndentsWithTabs(std::string_view text) {
  return text.starts_with('\t') || text.find("\n\t") != std::string_view::npos;
}

std::string TabsNote(std::string_view there, std::string_view wanted) {
  if (IndentsWithTabs(there) == IndentsWithTabs(wanted)) return {};
  return IndentsWithTabs(there) ? " (the file has tabs)" : " (the file has no tabs)";
}

// The place in the text that comes nearest.
class Place {
 public:
  Place(std::string_view text, std::string_view wanted, std::size_t at) : text_(text), wanted_(wanted), at_(at) {
    const std::size_t feed = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    begin_ = feed == std::string_view::npos ? 0 : feed + 1;
    line_ = 1 + static_cast<std::uint64_t>(std::ranges::count(text.substr(0, begin_), '\n'));
  }

  [[nodiscard]] NearestText Describe() const {
    const std::size_t differing = FirstDifferingLine();
    return {line_, DifferenceOf(differing), Excerpt(differing)};
  }

 private:
  [[nodiscard]] std::string DifferenceOf(std::size_t differing) const;
  [[nodiscard]] std::size_t FirstDifferingLine() const;
  [[nodiscard]] std::string Excerpt(std::size_t differing) const;
  [[nodiscard]] std::string ShownLine(std::string_view line) const;

  std::string_view text_;
  std::string_view wanted_;
  std::size_t at_;
  std::size_t begin_ = 0;  // of the line that the place is in
  std::uint64_t line_ = 1;
};

std::string Place::DifferenceOf(std::size_t differing) const {
  const std::size_t from = std::max(begin_, at_ - std::min(at_, kMarginBytes));
  const std::string_view there = text_.substr(from, at_ - from + 2 * wanted_.size() + kMarginBytes);
  for (const Difference& difference : kDifferences) {
    if (!Contains(Folded(there, difference.folding), Folded(wanted_, difference.folding))) continue;
    const bool indents = (difference.folding & (kFoldIndents | kFoldSpaces)) != 0;
    return std::string("only ").append(difference.name).append(indents ? TabsNote(there, wanted_) : "");
  }
  if (CountLines(wanted_) < 2) return {};
  return "the first line that differs is " + std::to_string(line_ + differing);
}

// Counts from 0, from the line of the place on. The first line of the wanted text may begin within a line, and its last
// line may end within one.
std::size_t Place::FirstDifferingLine() const {
  std::string_view there = text_.substr(begin_);
  std::string_view wanted = wanted_;
  std::size_t index = 0;
  while (!wanted.empty() && !there.empty()) {
    const std::string_view expected = TakeLine(wanted);
    const std::string_view found = TakeLine(there);
    const bool same = index == 0       ? found.ends_with(expected)
                      : wanted.empty() ? found.starts_with(expected)
                                       : found == expected;
    if (!same) break;
    ++index;
  }
  return std::min(index, CountLines(wanted_) - 1);
}

// Tabs are shown as they are: they often are the difference, and do no harm.
std::string Place::ShownLine(std::string_view line) const {
  const auto offset = static_cast<std::size_t>(line.data() - text_.data());
  const bool cut = line.size() > kMaxLineBytes;
  const std::size_t interest = cut && at_ > offset && at_ < offset + line.size() ? at_ - offset : 0;
  const std::size_t skipped = interest - std::min(interest, kLeadBytes);
  std::string_view rest = line.substr(skipped, kMaxLineBytes);
  std::string shown = skipped == 0 ? "" : "…";
  const bool more = skipped + rest.size() < line.size();
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, rest.find('\t'));
    shown += base::Printable(piece);
    rest.remove_prefix(piece.size());
    if (rest.empty()) break;
    shown += '\t';
    rest.remove_prefix(1);
  }
  return shown.append(more ? "…" : "");
}

std::string Place::Excerpt(std::size_t differing) const {
  constexpr std::size_t kLinesInFront = 3;
  const std::size_t skipped = differing + 2 < kMaxExcerptLines ? 0 : differing - kLinesInFront;
  const std::size_t count = std::min(CountLines(wanted_) - skipped, kMaxExcerptLines);
  std::string_view rest = text_.substr(begin_);
  for (std::size_t i = 0; i < skipped; ++i) (void)TakeLine(rest);
  std::string excerpt;
  for (std::size_t i = 0; i < count && !rest.empty(); ++i) {
    const std::string number = std::to_string(line_ + skipped + i);
    const std::string line = number + "| " + ShownLine(TakeLine(rest));
    if (i > 0 && excerpt.size() + 1 + line.size() > kMaxExcerptBytes) break;
    excerpt.append(i == 0 ? "" : "\n").append(line);
  }
  return excerpt;
}

// A mistake in the wanted text's first line can move the place to the end of the line before, where less than that
// first line fits.
std::size_t SnappedToLine(std::string_view text, std::string_view wanted, std::size_t at) {
  const std::size_t feed = text.find('\n', at);
  const std::string_view first = wanted.substr(0, wanted.find('\n'));
  if (feed == std::string_view::npos || feed - at > first.size()) return at;
  const std::string left = Folded(text.substr(at, feed - at), kSkeleton);
  return left.size() * 2 < Folded(first, kSkeleton).size() ? feed + 1 : at;
}

}  // namespace

std::optional<NearestText> FindNearest(std::string_view text, std::string_view wanted) {
  if (!text.contains('\n') && text.contains('\r')) {
    std::string lines(text);
    std::ranges::replace(lines, '\r', '\n');
    return FindNearest(lines, wanted);
  }
  const auto place = FindSimilarPlace(Folded(text, kSkeleton), Folded(wanted, kSkeleton));
  if (!place) return std::nullopt;
  const std::size_t at = SnappedToLine(text, wanted, PlaceOfSkeleton(text, *place));
  return Place(text, wanted, at).Describe();
}

}  // namespace skerry::text
