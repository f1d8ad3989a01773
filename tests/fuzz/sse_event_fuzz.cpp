// Any bytes as a stream of server-sent events.
//
// The rules: the events do not depend on the pieces in which the bytes came, and are those that a reader finds line by
// line.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "net/event_parser.hpp"

namespace {

namespace net = skerry::net;
using Event = std::tuple<std::string, std::string, std::string>;

[[noreturn]] void Break(const char* rule) {
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

std::vector<Event> Parsed(std::string_view text, std::size_t piece) {
  net::EventParser parser;
  std::vector<Event> events;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    if (!parser.Feed(text.substr(0, piece))) Break("so little is not too much");
    while (auto event = parser.Next()) events.emplace_back(event->name, event->data, event->id);
  }
  return events;
}

// Lines that have ended. A CR at the very end may be half of a line end.
std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\r' && text[at] != '\n') {
      line += text[at];
      continue;
    }
    if (text[at] == '\r' && at + 1 == text.size()) break;
    if (text[at] == '\r' && text[at + 1] == '\n') ++at;
    lines.push_back(line);
    line.clear();
  }
  return lines;
}

// The HTML standard, 9.2.6, word for word.
std::vector<Event> Expected(std::string_view text) {
  std::vector<Event> events;
  std::string type;
  std::string data;
  bool any = false;
  std::string id;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (const std::string& line : LinesOf(text)) {
    const std::size_t colon = line.find(':');
    const std::string field = line.substr(0, colon);
    std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.erase(0, 1);
    if (line.empty()) {
      if (any) events.emplace_back(type.empty() ? "message" : type, data.substr(0, data.size() - 1), id);
      type.clear();
      data.clear();
      any = false;
    } else if (field == "event") {
      type = value;
    } else if (field == "data") {
      data += value + '\n';
      any = true;
    } else if (field == "id" && !value.contains('\0')) {
      id = value;
    }
  }
  return events;
}

}  // namespace

// The first byte says how long the pieces are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<Event> expected = Expected(text);
  if (Parsed(text, text.size() + 1) != expected) Break("other events than the standard says");
  if (Parsed(text, 1) != expected || Parsed(text, std::size_t{1} + data[0]) != expected)
    Break("events depend on how their bytes came");
  return 0;
}
