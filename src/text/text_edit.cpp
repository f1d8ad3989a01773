#include "text/text_edit.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/utf8.hpp"
#include "text/line_ends.hpp"
#include "text/nearest_text.hpp"
#include "text/text_encoding.hpp"

namespace skerry::text {
namespace {

constexpr std::size_t kMaxNamedLines = 10;

// With memmem, which takes linear time for any input.
std::size_t FindFrom(std::string_view text, std::string_view wanted, std::size_t from) {
  const void* found = ::memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

template <class Found>
void ForEachMatch(std::string_view text, std::string_view wanted, Found found) {
  for (auto at = FindFrom(text, wanted, 0); at != std::string_view::npos;
       at = FindFrom(text, wanted, at + wanted.size())) {
    found(at);
  }
}

// Applies one ReplaceText to one text.
class Replacement {
 public:
  Replacement(const ReplaceText& edit, const DecodedText& file) : edit_(edit), file_(file), text_(file.text) {}

  base::Result<std::string> Apply(std::size_t& replaced);

 private:
  [[nodiscard]] base::Status Validate() const;
  void Count();
  [[nodiscard]] base::Status Choose();
  [[nodiscard]] std::string Build() const;
  [[nodiscard]] base::Error NotFound() const;
  [[nodiscard]] base::Error WrongCount() const;
  [[nodiscard]] bool IsExact(LineEndWalk& walk, std::size_t at) const;
  [[nodiscard]] std::size_t Chosen() const { return only_exact_ ? exact_ : total_; }

  const ReplaceText& edit_;
  const DecodedText& file_;
  std::string_view text_;
  LineEnds ends_ = LineEndsOf(text_);
  // The text with line feeds only, when it has other line ends: so a match cannot split a "\r\n".
  std::string plain_ = ends_ == LineEnds::kCrLf || ends_ == LineEnds::kMixed ? WithLineFeeds(text_) : std::string();
  std::string_view searched_ = plain_.empty() ? text_ : std::string_view(plain_);
  std::string wanted_ = WithLineFeeds(edit_.old_text);
  std::string new_text_ = ends_ == LineEnds::kNone ? edit_.new_text : WithLineFeeds(edit_.new_text);
  std::size_t total_ = 0;
  std::size_t exact_ = 0;
  bool only_exact_ = false;
  std::vector<std::size_t> lines_;  // of the first occurrences
};

base::Status Replacement::Validate() const {
  if (wanted_.empty()) {
    return base::Err(base::Code::kInvalidArgument, "the text to replace is empty; to add text, insert lines");
  }
  if (wanted_ == new_text_) {
    const std::string_view hint =
        edit_.old_text == edit_.new_text ? "" : " but line ends, which stay as the file has them";
    return base::Err(base::Code::kInvalidArgument, "it changes nothing" + std::string(hint));
  }
  // A part of a UTF-8 character would match in the middle of a character.
  if (file_.encoding != Encoding::kBytes && !base::IsValidUtf8(wanted_)) {
    return base::Err(base::Code::kInvalidArgument, "the text to replace is not UTF-8, and the file is");
  }
  if (const auto obstacle = EncodingObstacle(new_text_, file_.encoding); !obstacle.empty()) {
    return base::Err(base::Code::kInvalidArgument, std::string(obstacle));
  }
  return {};
}

bool Replacement::IsExact(LineEndWalk& walk, std::size_t at) const {
  const std::size_t begin = walk.Seek(at);
  return text_.substr(begin, walk.Seek(at + wanted_.size()) - begin) == edit_.old_text;
}

void Replacement::Count() {
  LineEndWalk walk(text_);
  std::size_t line = 1;
  std::size_t counted = 0;
  ForEachMatch(searched_, wanted_, [&](std::size_t at) {
    ++total_;
    if (ends_ == LineEnds::kMixed && IsExact(walk, at)) ++exact_;
    if (lines_.size() >= kMaxNamedLines) return;
    line += static_cast<std::size_t>(std::ranges::count(searched_.substr(counted, at - counted), '\n'));
    counted = at;
    lines_.push_back(line);
  });
}

base::Status Replacement::Choose() {
  Count();
  if (total_ == 0) return std::unexpected(NotFound());
  only_exact_ = ends_ == LineEnds::kMixed && edit_.count != 0 && exact_ == edit_.count;
  if (edit_.count != 0 && Chosen() != edit_.count) return std::unexpected(WrongCount());
  // An upper bound: with every line end in its long form.
  const std::size_t each = new_text_.size() + static_cast<std::size_t>(std::ranges::count(new_text_, '\n'));
  const std::size_t room = kMaxEditedBytes - std::min(kMaxEditedBytes, text_.size());
  if (each > wanted_.size() && each - wanted_.size() > room / Chosen()) {
    return base::Err(base::Code::kTooLarge, "the file would become too large");
  }
  return {};
}

// The part that old and new text have in common stays as it is in the file, with its line ends.
std::string Replacement::Build() const {
  const auto front = static_cast<std::size_t>(std::ranges::mismatch(wanted_, new_text_).in1 - wanted_.begin());
  const std::size_t shorter = std::min(wanted_.size(), new_text_.size()) - front;
  std::size_t back = 0;
  while (back < shorter && wanted_[wanted_.size() - 1 - back] == new_text_[new_text_.size() - 1 - back]) ++back;
  const std::string_view middle = std::string_view(new_text_).substr(front, new_text_.size() - front - back);
  const std::string wide = WithLineEnds(middle, LineEnds::kCrLf);

  std::string built;
  std::size_t copied = 0;
  LineEndWalk walk(text_);
  LineEndWalk exact_walk(text_);
  ForEachMatch(searched_, wanted_, [&](std::size_t at) {
    if (only_exact_ && !IsExact(exact_walk, at)) return;
    const std::size_t begin = plain_.empty() ? at + front : walk.Seek(at + front);
    const bool widen = !plain_.empty() && walk.EndHere() == LineEnds::kCrLf;
    built.append(text_.substr(copied, begin - copied)).append(widen ? std::string_view(wide) : middle);
    const std::size_t end = at + wanted_.size() - back;
    copied = plain_.empty() ? end : walk.Seek(end);
  });
  return built.append(text_.substr(copied));
}

base::Result<std::string> Replacement::Apply(std::size_t& replaced) {
  SKERRY_RETURN_IF_ERROR(Validate());
  SKERRY_RETURN_IF_ERROR(Choose());
  replaced += Chosen();
  return Build();
}

base::Error Replacement::NotFound() const {
  std::string message = "the text is not in the file";
  if (text_.empty()) {
    message += ", which is empty; to add text, insert lines";
  } else if (file_.encoding == Encoding::kBytes && !IsAscii(wanted_)) {
    message += ", which is neither UTF-8 nor UTF-16, so that other characters than those of ASCII do not match";
  }
  if (text_.empty()) return {base::Code::kNotFound, message};
  const auto nearest = FindNearest(text_, edit_.old_text);
  if (!nearest) return {base::Code::kNotFound, message + "; nothing in it comes near"};
  message += "; line " + std::to_string(nearest->line) + " comes nearest";
  if (!nearest->difference.empty()) message += ", " + nearest->difference;
  return {base::Code::kNotFound, message + ":\n" + nearest->excerpt};
}

std::string Times(std::size_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

base::Error Replacement::WrongCount() const {
  std::string message = "the text is there " + Times(total_) + " and not " + Times(edit_.count) + ", in line";
  for (std::size_t i = 0; i < lines_.size(); ++i) message += (i == 0 ? " " : ", ") + std::to_string(lines_[i]);
  if (lines_.size() < total_) message += " and others";
  return {base::Code::kConflict, message + "; more of the text around the place tells it apart"};
}

// Where line `line` begins, which counts from 1; nothing when the text has no such line, unless it is the one behind
// the last.
std::optional<std::size_t> BeginOfLine(std::string_view text, std::uint64_t line) {
  std::size_t at = 0;
  for (std::uint64_t current = 1; current < line; ++current) {
    if (at >= text.size()) return std::nullopt;
    const std::size_t feed = text.find('\n', at);
    at = feed == std::string_view::npos ? text.size() : feed + 1;
  }
  return at;
}

base::Result<std::string> Insert(const InsertLines& edit, const DecodedText& file) {
  const std::string_view text = file.text;
  if (edit.text.empty()) return base::Err(base::Code::kInvalidArgument, "there is nothing to insert");
  const auto at = edit.line == 0 ? std::nullopt : BeginOfLine(text, edit.line);
  if (!at) {
    return base::Err(base::Code::kInvalidArgument, "nothing can be inserted at line " + std::to_string(edit.line) +
                                                       ": it may be 1 to " + std::to_string(CountLines(text) + 1));
  }
  if (const auto obstacle = EncodingObstacle(edit.text, file.encoding); !obstacle.empty()) {
    return base::Err(base::Code::kInvalidArgument, std::string(obstacle));
  }
  LineEndWalk walk(text.substr(*at));
  LineEnds ends = walk.EndHere();
  if (ends == LineEnds::kNone) ends = LineEndWalk(text.substr(0, *at)).EndHere();
  std::string inserted = WithLineEnds(edit.text, ends);
  if (ends == LineEnds::kNone) ends = LineEndsOf(inserted);
  const std::string_view end = ends == LineEnds::kCrLf ? "\r\n" : "\n";
  if (!inserted.ends_with('\n')) inserted += end;
  const bool unfinished = *at == text.size() && !text.empty() && !text.ends_with('\n');
  std::string built(text.substr(0, *at));
  if (unfinished) built += end;
  return built.append(inserted).append(text.substr(*at));
}

base::Result<std::string> ApplyOne(const TextEdit& edit, const DecodedText& file, EditReport& report) {
  if (const auto* replace = std::get_if<ReplaceText>(&edit)) {
    return Replacement(*replace, file).Apply(report.replacements);
  }
  ++report.insertions;
  return Insert(std::get<InsertLines>(edit), file);
}

}  // namespace

base::Result<EditedText> ApplyEdits(std::string_view file, const std::vector<TextEdit>& edits) {
  constexpr std::string_view kTooLarge = "the file is too large to be edited as a text";
  if (file.size() > kMaxEditedBytes) return base::Err(base::Code::kTooLarge, std::string(kTooLarge));
  DecodedText decoded = Decode(file);
  EditReport report;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    auto text = ApplyOne(edits[i], decoded, report);
    if (text && text->size() > kMaxEditedBytes) {
      text = base::Err(base::Code::kTooLarge, "the file would become too large");
    }
    if (!text) {
      const std::string number = "edit " + std::to_string(i + 1) + " of " + std::to_string(edits.size()) + ": ";
      return base::Err(text.error().code, number + text.error().message);
    }
    decoded.text = std::move(*text);
  }
  return EditedText{Encode(decoded.text, decoded.encoding), report};
}

}  // namespace skerry::text
