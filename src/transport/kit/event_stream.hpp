// Server-sent events (the HTML standard, 9.2): their text, and the answer that carries them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "transport/http/dialect.hpp"
#include "transport/http/message.hpp"

namespace skerry::transport::kit {

// All members are borrowed.
struct ServerEvent {
  std::string_view name;  // "": the client calls it "message"
  std::string_view id;    // "": none
  std::string_view data;  // may have several lines
};
// A name or an id with a line end in it is left out: it would begin another field.
void AppendEvent(std::string& bytes, const ServerEvent& event);

// Whether the client asked for events.
[[nodiscard]] bool WantsEvents(const http::Request& request);
// The number that a client sends when it connects again (Last-Event-ID); nothing when it sends none. kInvalidArgument.
base::Result<std::optional<std::uint64_t>> LastEventId(const http::Request& request);

http::Response EventStreamAnswer(std::unique_ptr<http::Stream> stream);

// Sends a sign of life on a stream that has been silent for a while. A Ticker has to wake the stream.
class Heartbeat {
 public:
  static constexpr std::chrono::seconds kSilence{15};
  // `sign`: a comment of an event stream, or another text that a client ignores.
  explicit Heartbeat(std::string sign = ": alive\n\n", std::chrono::milliseconds silence = kSilence)
      : sign_(std::move(sign)), silence_(silence) {}
  // Called at the end of Stream::Next: `pull` is its answer, and `bytes` beyond `before` are what it appends.
  http::Pull After(http::Pull pull, std::size_t before, std::string& bytes);

 private:
  std::string sign_;
  std::chrono::milliseconds silence_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace skerry::transport::kit
