#include "transport/kit/event_stream.hpp"

#include <algorithm>
#include <charconv>

namespace skerry::transport::kit {
namespace {

constexpr std::string_view kLineEnds("\r\n\0", 3);

void AppendField(std::string& bytes, std::string_view name, std::string_view value) {
  bytes.append(name).append(": ").append(value).append("\n");
}

}  // namespace

void AppendEvent(std::string& bytes, const ServerEvent& event) {
  const auto is_plain = [](std::string_view text) {
    return !text.empty() && text.find_first_of(kLineEnds) == std::string_view::npos;
  };
  if (is_plain(event.name)) AppendField(bytes, "event", event.name);
  if (is_plain(event.id)) AppendField(bytes, "id", event.id);
  // A client takes a CR, an LF and both together as the end of a line; it puts an LF between the lines of the data.
  for (std::string_view rest = event.data;;) {
    const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
    AppendField(bytes, "data", rest.substr(0, end));
    if (end == rest.size()) break;
    rest.remove_prefix(end + (rest.substr(end).starts_with("\r\n") ? 2 : 1));
  }
  bytes += "\n";
}

bool WantsEvents(const http::Request& request) {
  const auto accept = request.head.headers.Find("Accept");
  return accept && accept->contains("text/event-stream");
}

base::Result<std::optional<std::uint64_t>> LastEventId(const http::Request& request) {
  const auto last = request.head.headers.Find("Last-Event-ID");
  if (!last || last->empty()) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(last->data(), last->data() + last->size(), number);
  if (error != std::errc() || end != last->data() + last->size())
    return base::Err(base::Code::kInvalidArgument, "Last-Event-ID is no number of an event");
  return number;
}

http::Response EventStreamAnswer(std::unique_ptr<http::Stream> stream) {
  // The second header is for a proxy in between: it would hold events back until it has many.
  http::Response response{.headers = {{"Content-Type", "text/event-stream"}, {"X-Accel-Buffering", "no"}}};
  response.body = std::move(stream);
  return response;
}

http::Pull Heartbeat::After(http::Pull pull, std::size_t before, std::string& bytes) {
  const auto now = std::chrono::steady_clock::now();
  if (bytes.size() != before) {
    last_ = now;
  } else if (pull == http::Pull::kWait && now - last_ >= silence_) {
    last_ = now;
    bytes += sign_;
    return http::Pull::kMore;
  }
  return pull;
}

}  // namespace skerry::transport::kit
