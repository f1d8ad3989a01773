// The heads of requests and answers that pass a tunnel between a client and a program inside a sandbox. Pure.
//
// The program is not trusted. Its answer is read as strictly as a request is, and written anew for the client: only the
// content of a body reaches a client as the program sent it.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "transport/http/message.hpp"
#include "transport/http/wire.hpp"

namespace skerry::transport::http {

// The head of a program's answer.
struct ProgramAnswer {
  int status = 0;  // 100 to 599
  Version version = Version::kHttp11;
  Headers headers;
};
// `text` ends with the empty line. The error says what is wrong with the head.
std::expected<ProgramAnswer, std::string> ParseAnswer(std::string_view text);

// Where the body of an answer ends.
struct AnswerFraming {
  enum class End { kNoBody, kLength, kChunks, kClose };
  End end = End::kNoBody;
  std::uint64_t length = 0;   // of kLength; of kNoBody the length that the answer to GET would have
  bool names_length = false;  // `length` is given
};
// `method` is the request's. Two ways to give the length are an error, as is a way that is not understood.
std::expected<AnswerFraming, std::string> FramingOf(const ProgramAnswer& answer, std::string_view method);

// For an answer that changes protocols (101): the protocol's name when the client had asked for it, else "".
std::string UpgradeOf(const ProgramAnswer& answer, const Headers& request);

// The answer's headers without those that are about one connection, those that bind a client for longer or elsewhere
// (Strict-Transport-Security, Alt-Svc and the like), and those that a proxy in front of this server would take for
// orders (X-Accel-Redirect, X-Sendfile).
Headers HeadersForClient(const ProgramAnswer& answer);

struct ForwardedRequest {
  const RequestHead& head;
  const Framing& framing;
  std::string_view target;                // "/path?query"
  std::string_view host;                  // "": as the client sent it
  const Headers& more;                    // added; replace the client's headers of the same name
  std::span<const std::string> withheld;  // headers that are not passed on
};
// The head of a request as the program gets it, with its empty line: HTTP/1.1, one request per connection, a body by
// length or in chunks. Without headers that are about one connection, unless the request asks for another protocol.
std::string ComposeRequest(const ForwardedRequest& request);

// The part of a request's target behind the first `segments` segments of its path, with the query, as it came: "/a?b"
// of "/proxy/80/a?b" for 2. "/" at least.
std::string TargetBehind(const RequestHead& head, std::size_t segments);
// Whether the target can stand in a request line: "/" and printable letters.
bool IsForwardable(std::string_view target);

}  // namespace skerry::transport::http
