#include "net/answer_head.hpp"

#include <algorithm>

namespace skerry::net {

bool SameName(std::string_view one, std::string_view other) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(one, other, {}, small, small);
}

std::optional<std::string> AnswerHead::Header(std::string_view name) const {
  for (const auto& [candidate, value] : headers)
    if (SameName(candidate, name)) return value;
  return std::nullopt;
}

}  // namespace skerry::net
