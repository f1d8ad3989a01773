// JsonLines: an answer that is one JSON value to a line, as Docker's events and Kubernetes' watches are.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "net/incoming.hpp"

namespace skerry::net {

// The value of a text; a discarded value when the text is no JSON. Compiled in one place, as the parser is large.
nlohmann::json ParseJson(std::string_view text);

// For one thread at a time. A requested stop is kTimeout too.
class JsonLines {
 public:
  static constexpr std::size_t kMaxLine = std::size_t{4} << 20U;
  explicit JsonLines(Incoming answer, std::size_t max_line = kMaxLine);

  // The next value; none at the end of the answer. Lines may end with CRLF; empty ones are passed over, and the last
  // one needs no end. After kTimeout nothing is lost: it can be called again. kTooLarge and kUnavailable (the
  // connection is lost, or a line is no JSON) end the reading.
  base::Result<std::optional<nlohmann::json>> Next(base::Deadline deadline, const std::stop_token& stop = {});

 private:
  // The next line that is not empty; none when more bytes are needed.
  std::optional<std::string> TakeLine();

  Incoming answer_;
  const std::size_t max_line_;
  std::string pending_;
  std::size_t searched_ = 0;  // of pending_: no line ends there
  bool ended_ = false;
};

}  // namespace skerry::net
