#include "confirm/line_view.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "confirm/glyphs.hpp"

namespace skerry::confirm {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLeastRoom = 20;  // enough for the longest glyph with its prefix and two '…'
constexpr std::string_view kCutMark = "…";

// Glyphs that stand in one row.
struct Segment {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Line {
  std::string text;  // well-formed
  std::vector<Glyph> glyphs;

  [[nodiscard]] bool Contains(Segment segment, std::size_t at) const {
    return at >= segment.begin && (at < segment.end || (at == segment.end && at == glyphs.size()));
  }
  [[nodiscard]] std::size_t Width(std::size_t begin, std::size_t end) const {
    std::size_t width = 0;
    for (std::size_t at = begin; at < end; ++at) width += glyphs[at].width;
    return width;
  }
};

// How many cells of a row are for code.
std::size_t RoomFor(const LineViewOptions& options) {
  if (options.width == 0) return kUnlimited;
  const std::size_t gutter = options.digits + 3;
  return std::max(kLeastRoom, options.width > gutter ? options.width - gutter : 0);
}

std::size_t FillRow(const Line& line, std::size_t begin, std::size_t room) {
  std::size_t end = begin;
  for (std::size_t width = 0; end < line.glyphs.size(); ++end) {
    width += line.glyphs[end].width;
    if (width > room) break;
  }
  return end;
}

// A row from `begin` that leaves room for a '…' at either end that is cut.
Segment CutRow(const Line& line, std::size_t begin, std::size_t room) {
  if (room == kUnlimited) return {begin, line.glyphs.size()};
  const std::size_t left = begin > 0 ? room - 1 : room;
  const std::size_t end = FillRow(line, begin, left);
  return {begin, end == line.glyphs.size() ? end : FillRow(line, begin, left - 1)};
}

std::vector<Segment> Wrapped(const Line& line, std::size_t room) {
  std::vector<Segment> segments;
  std::size_t begin = 0;
  do {
    segments.push_back({begin, FillRow(line, begin, room)});
    begin = segments.back().end;
  } while (begin < line.glyphs.size());
  return segments;
}

// The first row when the line has no finding, else the rows in which findings begin.
std::vector<Segment> Cut(const Line& line, std::span<const std::size_t> places, std::size_t room) {
  const Segment first = CutRow(line, 0, room);
  if (places.empty()) return {first};
  std::vector<Segment> segments;
  if (line.Contains(first, places.front())) segments.push_back(first);
  for (const std::size_t place : places) {
    if (!segments.empty() && line.Contains(segments.back(), place)) continue;
    const std::size_t earliest = segments.empty() ? 0 : segments.back().end;
    std::size_t begin = place;
    for (std::size_t width = 0; begin > earliest; --begin) {
      width += line.glyphs[begin - 1].width;
      if (width > room / 3) break;
    }
    segments.push_back(CutRow(line, begin, room));
  }
  return segments;
}

// Where in the line a finding begins.
std::size_t PlaceOf(const core::Finding& finding, const Line& line) {
  return std::min<std::size_t>(finding.column > 0 ? finding.column - 1 : 0, line.glyphs.size());
}

// How far the line agrees with the matched text, which is cut after some bytes and may be the text in a string.
std::size_t EndOfMatch(const core::Finding& finding, const Line& line, std::size_t place) {
  std::string_view matched = finding.text;
  std::size_t end = place;
  for (; end < line.glyphs.size(); ++end) {
    const std::string_view character =
        std::string_view(line.text).substr(line.glyphs[end].begin, line.glyphs[end].length);
    if (!matched.starts_with(character)) break;
    matched.remove_prefix(character.size());
  }
  return std::max(end, place + 1);
}

void AddRow(std::string& rows, std::string_view gutter, std::string_view row) {
  rows += gutter;
  if (!row.empty()) rows.append(" ").append(row);
  rows += '\n';
}

std::string Gutter(std::string_view number, std::string_view sign, std::size_t digits) {
  std::string gutter(digits - std::min(digits, number.size()), ' ');
  return gutter.append(number).append(" ").append(sign);
}

std::string CodeRow(const Line& line, Segment segment, const LineViewOptions& options) {
  const bool cut = options.long_lines == LongLines::kCut;
  const bool reverse = options.colour == Colour::kAnsi;
  std::string row(cut && segment.begin > 0 ? kCutMark : "");
  for (std::size_t at = segment.begin; at < segment.end; ++at) {
    // Reversed, so that an escape differs from code with the same letters.
    const bool marked = reverse && line.glyphs[at].form == Glyph::Form::kEscaped;
    if (marked) row += "\x1b[7m";
    row += Shown(line.text, line.glyphs[at]);
    if (marked) row += "\x1b[27m";
  }
  if (cut && segment.end < line.glyphs.size()) row += kCutMark;
  return row;
}

void AddFinding(std::string& rows, const core::Finding& finding, const Line& line, Segment segment,
                const LineViewOptions& options) {
  const std::size_t place = PlaceOf(finding, line);
  const std::size_t end = std::min(EndOfMatch(finding, line, place), segment.end);
  const bool cut_before = options.long_lines == LongLines::kCut && segment.begin > 0;
  const std::size_t indent = line.Width(segment.begin, place) + (cut_before ? 1 : 0);
  const std::size_t length = std::max<std::size_t>(1, line.Width(place, std::max(place, end)));
  const std::string marker = Coloured("^" + std::string(length - 1, '~'), finding.level, options.colour);
  const std::string rest = " " + Visible(finding.rule) + ": " + Visible(finding.explanation);
  const std::string level(core::NameOf(finding.level));
  const std::string label = Coloured(level, finding.level, options.colour) + rest;

  const std::string gutter = Gutter("", "|", options.digits);
  const std::string row = std::string(indent, ' ') + marker;
  if (indent + length + 1 + level.size() + WidthOf(rest) <= RoomFor(options))
    return AddRow(rows, gutter, row + " " + label);
  AddRow(rows, gutter, row);
  AddRow(rows, gutter, "  " + label);
}

}  // namespace

std::size_t RowsOf(std::string_view line, const LineViewOptions& options, std::size_t enough) {
  const std::size_t room = RoomFor(options);
  if (line.size() <= room / 10) return 1;  // no glyph is wider than ten cells
  Line whole{.text = base::ToValidUtf8(line), .glyphs = {}};
  whole.glyphs = GlyphsOf(whole.text, room > kUnlimited / (enough + 2) ? kUnlimited : room * (enough + 2));
  return Wrapped(whole, room).size();
}

std::size_t AddLine(std::string& rows, std::size_t number, std::string_view text,
                    std::span<const core::Finding* const> findings, const LineViewOptions& options) {
  Line line{.text = base::ToValidUtf8(text), .glyphs = {}};
  line.glyphs = GlyphsOf(line.text);
  std::vector<std::size_t> places;
  for (const core::Finding* finding : findings) places.push_back(PlaceOf(*finding, line));
  const std::size_t room = RoomFor(options);
  const auto segments = options.long_lines == LongLines::kWrap ? Wrapped(line, room) : Cut(line, places, room);

  std::string gutter = Gutter(std::to_string(number), "|", options.digits);
  std::size_t shown = 0;
  std::size_t next = 0;
  for (const Segment segment : segments) {
    AddRow(rows, std::exchange(gutter, Gutter("", ">", options.digits)), CodeRow(line, segment, options));
    shown += segment.end - segment.begin;
    for (; next < findings.size() && line.Contains(segment, places[next]); ++next)
      AddFinding(rows, *findings[next], line, segment, options);
  }
  return line.glyphs.size() - shown;
}

}  // namespace skerry::confirm
