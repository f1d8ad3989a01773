// The letters of HTTP: ASCII, without regard to the locale.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace skerry::transport::http {

constexpr char LowerOf(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

constexpr bool IsDigit(char letter) {
  return letter >= '0' && letter <= '9';
}

constexpr bool IsLetterOrDigit(char letter) {
  return IsDigit(letter) || (LowerOf(letter) >= 'a' && LowerOf(letter) <= 'z');
}

// RFC 9110: the letters of methods and of names of fields.
constexpr bool IsTokenLetter(char letter) {
  return IsLetterOrDigit(letter) || std::string_view("!#$%&'*+-.^_`|~").contains(letter);
}

constexpr bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsTokenLetter);
}

constexpr bool EqualsIgnoringCase(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, LowerOf, LowerOf);
}

// std::ranges::contains, which the library of g++ 12 lacks.
template <class Range>
constexpr bool Contains(const Range& range, std::string_view wanted) {
  return std::ranges::find(range, wanted, [](const auto& entry) { return std::string_view(entry); }) != range.end();
}

inline std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), LowerOf);
  return lower;
}

constexpr std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace skerry::transport::http
