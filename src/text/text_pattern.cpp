#include "text/text_pattern.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include <re2/re2.h>

namespace skerry::text {
namespace {

constexpr std::size_t kMaxPatternBytes = 4096;
constexpr std::int64_t kPatternMemory = std::int64_t{8} << 20U;
// A larger program can need too much memory for the fast matcher; RE2 then goes through the whole program for each
// byte.
constexpr int kMaxProgram = 5'000;

}  // namespace

TextPattern::TextPattern(std::unique_ptr<re2::RE2> expression, Place place)
    : expression_(std::move(expression)), place_(place) {}
TextPattern::TextPattern(TextPattern&&) noexcept = default;
TextPattern& TextPattern::operator=(TextPattern&&) noexcept = default;
TextPattern::~TextPattern() = default;

base::Result<TextPattern> TextPattern::Make(std::string_view pattern, PatternKind kind, LetterCase letter_case) {
  const auto invalid = [](const std::string& why) {
    return base::Err(base::Code::kInvalidArgument, "the pattern cannot be used: " + why);
  };
  if (pattern.empty()) return invalid("it is empty");
  if (pattern.size() > kMaxPatternBytes) return invalid("it is longer than 4096 bytes");
  re2::RE2::Options settings;
  settings.set_literal(kind == PatternKind::kLiteral);
  settings.set_case_sensitive(letter_case == LetterCase::kDiffers);
  settings.set_log_errors(false);
  settings.set_max_mem(kPatternMemory);
  auto expression = std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), settings);
  if (!expression->ok()) return invalid(expression->error());
  if (expression->ProgramSize() > kMaxProgram) return invalid("it is too large");
  // The pattern refers to the beginning or the end of a text, or may change what these mean.
  const bool anchored = pattern.find_first_of("^$") != std::string_view::npos || pattern.contains("\\A") ||
                        pattern.contains("\\z") || pattern.contains("\\B") || pattern.contains("(?");
  const bool literal = kind == PatternKind::kLiteral;
  return TextPattern(std::move(expression), literal || !anchored ? Place::kAnywhere : Place::kMatters);
}

std::size_t TextPattern::Find(std::string_view text) const {
  re2::StringPiece match;
  const bool found =
      expression_->Match(re2::StringPiece(text.data(), text.size()), 0, text.size(), re2::RE2::UNANCHORED, &match, 1);
  return found ? static_cast<std::size_t>(match.data() - text.data()) : std::string_view::npos;
}

bool TextPattern::MayMatchIn(std::string_view lines) const {
  return place_ == Place::kMatters || Find(lines) != std::string_view::npos;
}

}  // namespace skerry::text
