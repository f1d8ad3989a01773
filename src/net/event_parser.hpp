// EventParser: server-sent events, as the HTML standard tells how to read them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skerry::net {

// One event of a stream of server-sent events.
struct ServerEvent {
  std::string name;  // "message" where the server gave none
  std::string data;
  std::string id;  // the last one that was given
};

// Takes bytes as they come and gives whole events.
class EventParser {
 public:
  static constexpr std::size_t kMaxPending = std::size_t{512} << 20U;
  explicit EventParser(std::size_t max_pending = kMaxPending) : max_pending_(max_pending) {}

  // kTooLarge when more bytes than `max_pending` were fed that have not become an event yet.
  base::Status Feed(std::string_view bytes);
  std::optional<ServerEvent> Next();

 private:
  std::optional<std::string_view> NextLine();
  void Take(std::string_view line);

  const std::size_t max_pending_;
  std::string pending_;
  std::size_t at_ = 0;        // what is before it was taken
  std::size_t searched_ = 0;  // of the rest: no line ends there
  bool first_ = true;
  std::string name_;
  std::optional<std::string> data_;
  std::string id_;  // of the last event that had one
};

}  // namespace skerry::net
