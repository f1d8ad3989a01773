#include "net/json_lines.hpp"

#include <utility>

namespace skerry::net {

nlohmann::json ParseJson(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

JsonLines::JsonLines(Incoming answer, std::size_t max_line) : answer_(std::move(answer)), max_line_(max_line) {}

std::optional<std::string> JsonLines::TakeLine() {
  for (;;) {
    const std::size_t end = pending_.find('\n', searched_);
    const bool is_whole = end != std::string::npos;
    if (!is_whole && (!ended_ || pending_.empty())) {
      searched_ = pending_.size();
      return std::nullopt;
    }
    std::string line = pending_.substr(0, end);
    pending_.erase(0, is_whole ? end + 1 : end);
    searched_ = 0;
    if (line.find_first_not_of(" \t\r") != std::string::npos) return line;
  }
}

base::Result<std::optional<nlohmann::json>> JsonLines::Next(base::Deadline deadline, const std::stop_token& stop) {
  for (;;) {
    auto line = TakeLine();
    if ((line ? line->size() : pending_.size()) > max_line_)
      return base::Err(base::Code::kTooLarge,
                       "a line of the answer has more than " + std::to_string(max_line_) + " bytes");
    if (line) {
      auto value = ParseJson(*line);
      if (value.is_discarded()) return base::Err(base::Code::kUnavailable, "a line of the answer is no JSON");
      return std::optional(std::move(value));
    }
    if (ended_) return std::optional<nlohmann::json>();
    SKERRY_ASSIGN_OR_RETURN(const std::string bytes, answer_.Read(deadline, stop));
    ended_ = bytes.empty();
    pending_ += bytes;
  }
}

}  // namespace skerry::net
