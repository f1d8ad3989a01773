#include "net/event_parser.hpp"

#include <utility>

namespace skerry::net {

base::Status EventParser::Feed(std::string_view bytes) {
  pending_.erase(0, at_);
  at_ = 0;
  if (pending_.size() + bytes.size() + (data_ ? data_->size() : 0) > max_pending_)
    return base::Err(base::Code::kTooLarge, "an event has more than " + std::to_string(max_pending_) + " bytes");
  pending_ += bytes;
  return {};
}

std::optional<std::string_view> EventParser::NextLine() {
  const std::string_view rest = std::string_view(pending_).substr(at_);
  const std::size_t end = rest.find_first_of("\r\n", searched_);
  // What follows a CR at the end decides whether it was a line end of one byte or of two.
  const bool open = end != std::string_view::npos && rest[end] == '\r' && end + 1 == rest.size();
  if (end == std::string_view::npos || open) {
    searched_ = open ? end : rest.size();
    return std::nullopt;
  }
  searched_ = 0;
  at_ += end + (rest.substr(end).starts_with("\r\n") ? 2 : 1);
  return rest.substr(0, end);
}

void EventParser::Take(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") {
    name_ = value;
  } else if (field == "data") {
    if (data_) *data_ += '\n';
    if (!data_) data_.emplace();
    *data_ += value;
  } else if (field == "id" && !value.contains('\0')) {
    id_ = value;
  }
}

std::optional<ServerEvent> EventParser::Next() {
  while (auto line = NextLine()) {
    static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (std::exchange(first_, false) && line->starts_with(kByteOrderMark)) line->remove_prefix(kByteOrderMark.size());
    if (!line->empty()) {
      Take(*line);  // a comment is a field without a name
      continue;
    }
    std::string name = std::exchange(name_, {});
    auto data = std::exchange(data_, std::nullopt);
    if (data)
      return ServerEvent{.name = name.empty() ? "message" : std::move(name), .data = std::move(*data), .id = id_};
  }
  return std::nullopt;
}

}  // namespace skerry::net
