// The head of an HTTP/1 request: bytes in, a request line and fields out. Strict: text that two implementations could
// read in two ways is refused (RFC 9112, without its allowances for old senders).
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "transport/http/dialect.hpp"
#include "transport/http/message.hpp"

namespace skerry::transport::http {

inline constexpr std::size_t kMaxTarget = std::size_t{8} << 10U;

// Finds the end of a head in bytes that arrive piece by piece.
class HeadScanner {
 public:
  explicit HeadScanner(std::size_t limit) : limit_(limit) {}
  // `bytes` is everything so far. Gives the length of the head with its empty line; nothing when more bytes are needed.
  // Refuses as soon as possible: 400 for bytes that no head has, 414 and 431 for too many.
  std::expected<std::optional<std::size_t>, Refusal> Scan(std::string_view bytes);

 private:
  std::size_t limit_;
  std::size_t seen_ = 0;
  std::size_t line_ = 0;  // where the line begins
  bool first_line_ = true;
};

enum class Version { kHttp10, kHttp11 };

struct WireHead {
  std::string method;
  std::string target;
  Version version = Version::kHttp11;
  Headers headers;
};
// `text` ends with the empty line. 400 for a malformed head, 505 for other versions.
std::expected<WireHead, Refusal> ParseHead(std::string_view text);
// The lines after the first one, with the empty line.
std::expected<Headers, Refusal> ParseFields(std::string_view text);
// A Content-Length: digits, and nothing else.
std::optional<std::uint64_t> ParseLength(std::string_view text);
// Whether one of the headers of that name has the word in its list, as in "keep-alive, Upgrade".
bool Lists(const Headers& headers, std::string_view name, std::string_view word);

// What follows the head, and what becomes of the connection.
struct Framing {
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  bool keep_alive = true;
  bool expects_continue = false;
  bool upgrade = false;      // to a WebSocket, with all headers that this needs
  bool any_upgrade = false;  // to any protocol
  [[nodiscard]] bool HasBody() const { return chunked || content_length.value_or(0) > 0; }
};
std::expected<Framing, Refusal> FramingOf(const WireHead& head);

}  // namespace skerry::transport::http
