// AnswerHead: the status and the headers of an answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/request.hpp"

namespace skerry::net {

struct AnswerHead {
  int status = 0;
  Headers headers;

  // Whatever the case of `name`; the first of several.
  [[nodiscard]] std::optional<std::string> Header(std::string_view name) const;
};

// Compares as HTTP compares names and tokens: without regard to the case of ASCII letters.
bool SameName(std::string_view one, std::string_view other);

}  // namespace skerry::net
