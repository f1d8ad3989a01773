#include "transport/http/wire.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

constexpr std::size_t kMaxFields = 100;
constexpr std::size_t kWebSocketKeyLength = 24;  // 16 bytes in base64

std::unexpected<Refusal> Malformed(std::string what) {
  return std::unexpected(Refusal{.status = 400, .code = "invalid_argument", .message = std::move(what)});
}

std::unexpected<Refusal> TooLong(bool request_line) {
  if (request_line)
    return std::unexpected(Refusal{.status = 414, .code = "too_large", .message = "too long an address"});
  return std::unexpected(Refusal{.status = 431, .code = "too_large", .message = "the headers are too large"});
}

bool IsControl(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return (byte < 0x20 && letter != '\t') || byte == 0x7f;
}

std::expected<Version, Refusal> ParseVersion(std::string_view text) {
  if (text == "HTTP/1.1") return Version::kHttp11;
  if (text == "HTTP/1.0") return Version::kHttp10;
  if (text.size() == 8 && text.starts_with("HTTP/") && IsDigit(text[5]) && text[6] == '.' && IsDigit(text[7]))
    return std::unexpected(Refusal{.status = 505, .code = "unsupported_version", .message = "speak HTTP/1.1"});
  return Malformed("no HTTP request");
}

std::expected<WireHead, Refusal> ParseRequestLine(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return Malformed("no HTTP request");
  WireHead head;
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, last - first - 1);
  auto version = ParseVersion(line.substr(last + 1));
  if (!version) return std::unexpected(std::move(version).error());
  head.version = *version;
  if (!IsToken(head.method)) return Malformed("the method is no word");
  if (head.target.size() > kMaxTarget) return TooLong(true);
  if (head.target.empty() || !std::ranges::all_of(head.target, [](char c) { return c > ' ' && c < 0x7f; }))
    return Malformed("the address has letters that need to be escaped");
  return head;
}

std::expected<void, Refusal> ParseField(std::string_view line, Headers& headers) {
  const std::size_t colon = std::min(line.find(':'), line.size());
  // This also refuses continuation lines and blanks before the colon.
  if (colon == line.size() || !IsToken(line.substr(0, colon))) return Malformed("a header has no proper name");
  headers.Add(std::string(line.substr(0, colon)), std::string(Trim(line.substr(colon + 1))));
  if (headers.fields().size() > kMaxFields) return TooLong(false);
  return {};
}

bool AsksForWebSocket(const WireHead& head) {
  return head.method == "GET" && head.version == Version::kHttp11 && Lists(head.headers, "Connection", "upgrade") &&
         Lists(head.headers, "Upgrade", "websocket") && head.headers.Count("Sec-WebSocket-Key") == 1 &&
         head.headers.Find("Sec-WebSocket-Key")->size() == kWebSocketKeyLength &&
         head.headers.Count("Sec-WebSocket-Version") == 1 && head.headers.Find("Sec-WebSocket-Version") == "13";
}

bool AsksForUpgrade(const WireHead& head) {
  return head.version == Version::kHttp11 && Lists(head.headers, "Connection", "upgrade") &&
         head.headers.Count("Upgrade") == 1 && !head.headers.Find("Upgrade")->empty();
}

std::expected<void, Refusal> FindLength(const WireHead& head, Framing& framing) {
  const auto length = head.headers.Find("Content-Length");
  const auto coding = head.headers.Find("Transfer-Encoding");
  // With two lengths for one request an attacker can smuggle a second request into the body of the first one.
  if (length && coding) return Malformed("Content-Length together with Transfer-Encoding");
  if (head.headers.Count("Content-Length") > 1 || head.headers.Count("Transfer-Encoding") > 1)
    return Malformed("the length of the body is given twice");
  if (coding) {
    if (head.version == Version::kHttp10) return Malformed("HTTP/1.0 has no Transfer-Encoding");
    if (!EqualsIgnoringCase(*coding, "chunked")) return Malformed("no Transfer-Encoding but \"chunked\" is understood");
    framing.chunked = true;
  }
  if (length) {
    framing.content_length = ParseLength(*length);
    if (!framing.content_length) return Malformed("Content-Length is no number");
  }
  return {};
}

}  // namespace

std::expected<std::optional<std::size_t>, Refusal> HeadScanner::Scan(std::string_view bytes) {
  for (; seen_ < bytes.size(); ++seen_) {
    const char letter = bytes[seen_];
    if (seen_ >= limit_ || (first_line_ && seen_ > kMaxTarget + 64)) return TooLong(first_line_);
    if (letter == '\n') {
      if (seen_ == 0 || bytes[seen_ - 1] != '\r') return Malformed("a line does not end with CR LF");
      const bool empty = seen_ - line_ == 1;
      if (empty && !first_line_) return seen_ + 1;
      if (empty) return Malformed("no HTTP request");
      first_line_ = false;
      line_ = seen_ + 1;
    } else if (seen_ > 0 && bytes[seen_ - 1] == '\r') {
      return Malformed("a CR without its LF");
    } else if (letter != '\r' && (IsControl(letter) || (first_line_ && static_cast<unsigned char>(letter) >= 0x80))) {
      return Malformed("a control character in the headers");
    }
  }
  return std::nullopt;
}

std::expected<WireHead, Refusal> ParseHead(std::string_view text) {
  const std::size_t first = text.find("\r\n");
  if (first == std::string_view::npos || !text.ends_with("\r\n\r\n")) return Malformed("no HTTP request");
  auto head = ParseRequestLine(text.substr(0, first));
  if (!head) return head;
  auto headers = ParseFields(text.substr(first + 2));
  if (!headers) return std::unexpected(std::move(headers).error());
  head->headers = std::move(*headers);
  return head;
}

std::expected<Headers, Refusal> ParseFields(std::string_view text) {
  Headers headers;
  while (text != "\r\n") {
    const std::size_t end = text.find("\r\n");
    if (end == std::string_view::npos) return Malformed("a header without an end");
    if (auto field = ParseField(text.substr(0, end), headers); !field) return std::unexpected(std::move(field).error());
    text.remove_prefix(end + 2);
  }
  return headers;
}

std::optional<std::uint64_t> ParseLength(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool Lists(const Headers& headers, std::string_view name, std::string_view word) {
  for (const auto& [field, value] : headers.fields()) {
    if (!EqualsIgnoringCase(field, name)) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (EqualsIgnoringCase(Trim(rest.substr(0, comma)), word)) return true;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return false;
}

std::expected<Framing, Refusal> FramingOf(const WireHead& head) {
  Framing framing;
  if (auto length = FindLength(head, framing); !length) return std::unexpected(std::move(length).error());
  const bool asks_to_stay = Lists(head.headers, "Connection", "keep-alive");
  const bool asks_to_close = Lists(head.headers, "Connection", "close");
  framing.keep_alive = !asks_to_close && (head.version == Version::kHttp11 || asks_to_stay);
  if (const auto expect = head.headers.Find("Expect"); expect && head.version == Version::kHttp11) {
    if (!EqualsIgnoringCase(*expect, "100-continue"))
      return std::unexpected(
          Refusal{.status = 417, .code = "invalid_argument", .message = "Expect: 100-continue only"});
    framing.expects_continue = framing.HasBody();
  }
  framing.upgrade = AsksForWebSocket(head) && !framing.HasBody();
  framing.any_upgrade = AsksForUpgrade(head) && !framing.HasBody();
  return framing;
}

}  // namespace skerry::transport::http
