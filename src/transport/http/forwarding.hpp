// What passes a tunnel between a client and a program inside a sandbox: heads of requests and of answers. Pure.
//
// The program is not trusted. Its answer is read as strictly as a request is, and what is passed on is written anew:
// what the program sends never reaches a client as it came, but for the content of a body.
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
// `text` ends with the empty line. An error says what is wrong with it.
std::expected<ProgramAnswer, std::string> ParseAnswer(std::string_view text);

// Where the body of an answer ends.
struct AnswerFraming {
  enum class End { kNoBody, kLength, kChunks, kClose };
  End end = End::kNoBody;
  std::uint64_t length = 0;   // of kLength; of kNoBody what an answer to GET would have
  bool names_length = false;  // there is such a length
};
// `method` is the request's. Two ways to say it are an error, as is a way that is not understood.
std::expected<AnswerFraming, std::string> FramingOf(const ProgramAnswer& answer, std::string_view method);

// Of an answer that changes protocols (101): whether the client had asked for that protocol, by its name. "": no.
std::string UpgradeOf(const ProgramAnswer& answer, const Headers& request);

// Without what is about one connection, what binds a client for longer or elsewhere (Strict-Transport-Security, Alt-Svc
// and the like), and what a proxy before this server would take for orders of its own (X-Accel-Redirect, X-Sendfile).
Headers HeadersForClient(const ProgramAnswer& answer);

struct ForwardedRequest {
  const RequestHead& head;
  const Framing& framing;
  std::string_view target;                // "/path?query"
  std::string_view host;                  // "": as it came
  const Headers& more;                    // added; replace those of the same name
  std::span<const std::string> withheld;  // headers that are not passed on
};
// The head of a request as the program gets it, with its empty line: HTTP/1.1, one request for a connection, a body by
// length or in chunks. Without what is about one connection, unless it asks for another protocol.
std::string ComposeRequest(const ForwardedRequest& request);

// What of a request's target stands behind the first `segments` of its path, with the query, as it came: "/a?b" of
// "/proxy/80/a?b" for 2. "/" at least.
std::string TargetBehind(const RequestHead& head, std::size_t segments);
// Whether it can stand in a request: "/" and printable letters.
bool IsForwardable(std::string_view target);

}  // namespace skerry::transport::http
