// Any bytes on a connection: the head of a request, its address, a body in chunks.
//
// The rules: the pieces in which the bytes come do not matter; a request that is accepted has one reading, which is the
// same when it is written down and read again; a path leads nowhere but down; and no host is accepted that is not
// allowed.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.hpp"
#include "transport/http/chunks.hpp"
#include "transport/http/head_check.hpp"
#include "transport/http/text.hpp"
#include "transport/http/wire.hpp"

namespace {

namespace http = skerry::transport::http;

constexpr std::size_t kHeadLimit = 16U << 10U;

[[noreturn]] void Break(const char* rule) {
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

void Require(bool holds, const char* rule) {
  if (!holds) Break(rule);
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    std::array<char, 4> code{};
    std::snprintf(code.data(), code.size(), "%%%02x", static_cast<unsigned>(static_cast<unsigned char>(letter)));
    escaped += code.data();
  }
  return escaped;
}

// The length of the head; 0 when more bytes are needed; the negative status of a refusal.
int Outcome(const std::expected<std::optional<std::size_t>, http::Refusal>& scanned) {
  return scanned ? static_cast<int>(scanned->value_or(0)) : -scanned.error().status;
}

std::size_t ScanHead(std::string_view bytes, std::size_t split) {
  const int at_once = Outcome(http::HeadScanner(kHeadLimit).Scan(bytes));
  http::HeadScanner scanner(kHeadLimit);
  int in_pieces = Outcome(scanner.Scan(bytes.substr(0, split)));
  if (in_pieces == 0) in_pieces = Outcome(scanner.Scan(bytes));
  Require(at_once == in_pieces, "the end of a head depends on how its bytes came");
  Require(at_once <= static_cast<int>(kHeadLimit), "a head is longer than it may be");
  return static_cast<std::size_t>(std::max(at_once, 0));
}

std::string Written(const http::WireHead& head) {
  std::string text = head.method + " " + head.target;
  text += head.version == http::Version::kHttp11 ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n";
  for (const auto& [name, value] : head.headers.fields()) text.append(name).append(": ").append(value).append("\r\n");
  return text + "\r\n";
}

void CheckFields(const http::WireHead& head, std::string_view text) {
  std::size_t lines = 0;
  for (std::size_t at = text.find("\r\n"); at != std::string_view::npos; at = text.find("\r\n", at + 2)) ++lines;
  Require(head.headers.fields().size() + 2 == lines, "a head has more or fewer fields than lines");
  Require(http::IsToken(head.method), "a method is no word");
  for (const auto& [name, value] : head.headers.fields()) {
    Require(http::IsToken(name), "the name of a field is no word");
    Require(http::Trim(value) == value, "blanks around a value");
    Require(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos, "a value of several lines");
  }
  const auto again = http::ParseHead(Written(head));
  Require(again && again->method == head.method && again->target == head.target && again->version == head.version &&
              again->headers.fields() == head.headers.fields(),
          "a head that is written down is another one");
}

void CheckFraming(const http::WireHead& head) {
  const auto framing = http::FramingOf(head);
  if (!framing) return;
  Require(!(framing->chunked && framing->content_length), "two ways to say where a body ends");
  Require(head.headers.Count("Content-Length") + head.headers.Count("Transfer-Encoding") <= 1, "two lengths");
  Require(framing->chunked == (head.headers.Count("Transfer-Encoding") == 1), "a coding was passed over");
  Require(framing->content_length.has_value() == (head.headers.Count("Content-Length") == 1), "a length was lost");
  Require(!framing->upgrade || !framing->HasBody(), "an upgrade with a body");
  Require(!framing->expects_continue || framing->HasBody(), "someone waits to send nothing");
}

void CheckPath(std::string_view path) {
  const auto segments = http::SplitPath(path);
  if (!segments) return;
  std::string written;
  for (const std::string& segment : *segments) {
    Require(!segment.empty() && segment != "." && segment != "..", "a path goes nowhere or up");
    Require(!segment.contains('\0') && skerry::base::IsValidUtf8(segment), "a segment is no text");
    written += "/" + Escaped(segment);
  }
  const auto slashes = static_cast<std::size_t>(std::ranges::count(path, '/'));
  Require(path == "/" || segments->size() == slashes, "an escaped slash divides");
  const auto again = http::SplitPath(written.empty() ? "/" : written);
  Require(again && *again == *segments, "a path that is written down is another one");
}

void CheckQuery(std::string_view text) {
  const auto query = http::Query::Parse(text);
  if (!query) return;
  std::set<std::string> names;
  std::string written;
  for (const auto& [name, value] : query->fields()) {
    Require(names.insert(name).second, "a name comes twice");
    Require(!name.contains('\0') && !value.contains('\0'), "NUL in a query");
    Require(query->Find(name) == value, "another value is found");
    written += "&" + Escaped(name) + "=" + Escaped(value);
  }
  const auto again = http::Query::Parse(written);
  Require(again && again->fields() == query->fields(), "a query that is written down is another one");
}

void CheckAdmission(const http::WireHead& head, http::Transport transport) {
  static const http::HeadRules kRules{.hosts = {"example.org"}, .origins = {"https://page.example"}};
  static const std::vector<std::string> kLocal = {"10.0.0.1"};
  http::RequestHead request{.method = head.method, .target = head.target, .headers = head.headers};
  request.peer.transport = transport;
  if (http::CheckHead(request, head.version, kRules, kLocal)) return;
  Require(head.headers.Count("Host") <= 1 && head.headers.Count("Origin") <= 1, "two hosts or two origins");
  const auto origin = head.headers.Find("Origin");
  Require(!origin || http::Lower(*origin) == "https://page.example", "a foreign page was let in");
  const auto host = head.headers.Find("Host");
  Require(host || head.version == http::Version::kHttp10, "HTTP/1.1 without a host");
  if (!host || transport == http::Transport::kUnix) return;
  static constexpr std::array<std::string_view, 5> kNames = {"example.org", "10.0.0.1", "localhost", "127.0.0.1",
                                                             "[::1]"};
  const std::string name = http::Lower(host->substr(0, host->find(':', host->find(']') + 1)));
  Require(std::ranges::find(kNames, name.starts_with('[') ? name.substr(0, name.find(']') + 1) : name) != kNames.end(),
          "a foreign name was let in");
}

void CheckTarget(const http::WireHead& head) {
  const auto target = http::ParseTarget(head.target);
  if (!target) return;
  Require(target->path.starts_with('/') && target->path.find_first_of("?#") == std::string::npos, "no path");
  Require(target->authority.has_value() ||
              target->path + (head.target.contains('?') ? "?" : "") + target->query == head.target,
          "a piece of the address is lost");
  CheckPath(target->path);
  CheckQuery(target->query);
}

struct Decoded {
  std::string content;
  std::size_t consumed = 0;
  bool refused = false;
  bool done = false;

  bool operator==(const Decoded&) const = default;
};

void Feed(http::ChunkDecoder& decoder, std::string_view bytes, Decoded& decoded) {
  while (!bytes.empty() && !decoder.done()) {
    const auto step = decoder.Decode(bytes);
    decoded.refused = !step;
    if (!step) return;
    Require(step->consumed > 0 && step->consumed <= bytes.size(), "nothing was taken");
    Require(step->content.empty() || (step->content.data() >= bytes.data() && step->content.size() <= step->consumed),
            "content that did not come");
    decoded.content += step->content;
    decoded.consumed += step->consumed;
    bytes.remove_prefix(step->consumed);
  }
  decoded.done = decoder.done();
}

void CheckChunks(std::string_view bytes, std::size_t split) {
  Decoded at_once;
  http::ChunkDecoder whole;
  Feed(whole, bytes, at_once);
  Decoded in_pieces;
  http::ChunkDecoder pieces;
  Feed(pieces, bytes.substr(0, split), in_pieces);
  if (!in_pieces.refused) Feed(pieces, bytes.substr(std::min(split, bytes.size())), in_pieces);
  Require(at_once.refused == in_pieces.refused && at_once.done == in_pieces.done, "chunks depend on how they came");
  Require(at_once.content == in_pieces.content, "content depends on how it came");
  Require(at_once.refused || at_once.consumed == in_pieces.consumed, "the end depends on how it came");
}

}  // namespace

// The first two bytes say where the rest is cut in two.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t split = (data[0] * 256U + data[1]) % (bytes.size() + 1);
  CheckPath(bytes);
  CheckQuery(bytes);
  CheckChunks(bytes, split);
  const std::size_t length = ScanHead(bytes, split);
  if (length == 0) return 0;
  CheckChunks(bytes.substr(length), split);
  const auto head = http::ParseHead(bytes.substr(0, length));
  if (!head) return 0;
  CheckFields(*head, bytes.substr(0, length));
  CheckFraming(*head);
  CheckTarget(*head);
  for (const auto transport : {http::Transport::kUnix, http::Transport::kPlain}) CheckAdmission(*head, transport);
  return 0;
}
