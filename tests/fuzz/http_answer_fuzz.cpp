// Any bytes as the answer of a program inside a sandbox, which a tunnel passes on.
//
// The rules: an answer that is accepted says in one way where its body ends; the body does not depend on the pieces in
// which its bytes came; the answer for a client has one length, and no header that a program must not set.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "transport/http/answer_text.hpp"
#include "transport/http/body_decoder.hpp"
#include "transport/http/forwarding.hpp"
#include "transport/http/text.hpp"

namespace {

namespace http = skerry::transport::http;
using End = http::AnswerFraming::End;

constexpr std::size_t kHeadLimit = 16U << 10U;

[[noreturn]] void Break(const char* rule) {
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

void Require(bool holds, const char* rule) {
  if (!holds) Break(rule);
}

struct Content {
  std::string bytes;
  std::size_t left = 0;  // bytes behind the body
  bool done = false;
  bool refused = false;

  bool operator==(const Content&) const = default;
};

Content Decoded(const http::AnswerFraming& framing, std::string_view bytes, std::size_t split) {
  http::BodyDecoder decoder(framing);
  http::ReadBuffer in;
  Content content;
  for (const std::string_view piece : {bytes.substr(0, split), bytes.substr(split)}) {
    std::ranges::copy(piece, in.Prepare(piece.size()).begin());
    in.Commit(piece.size());
    std::size_t pieces = 0;
    content.refused = content.refused || !decoder.Take(in, content.bytes, pieces);
    if (content.refused) break;
  }
  content.done = decoder.done();
  content.left = content.refused ? 0 : in.view().size();
  return content;
}

void CheckBody(const http::AnswerFraming& framing, std::string_view bytes, std::size_t split) {
  if (framing.end == End::kNoBody) return;
  const Content whole = Decoded(framing, bytes, bytes.size());
  const Content pieces = Decoded(framing, bytes, split);
  Require(whole.refused == pieces.refused, "what is refused depends on how it came");
  Require(whole.refused || whole == pieces, "the body depends on how it came");
  Require(framing.end != End::kLength || whole.bytes.size() <= framing.length, "more than was announced");
  Require(!(whole.done && framing.end == End::kLength) || whole.bytes.size() == framing.length, "less than announced");
}

void CheckForClient(const http::ProgramAnswer& answer) {
  static constexpr std::array<std::string_view, 8> kNever = {
      "Connection", "Transfer-Encoding", "Content-Length",   "Keep-Alive",
      "Upgrade",    "Alt-Svc",           "X-Accel-Redirect", "Strict-Transport-Security"};
  const http::Headers headers = http::HeadersForClient(answer);
  for (const std::string_view name : kNever) Require(!headers.Find(name), "a program says what it must not");
  constexpr std::size_t kRoom = 90;  // with the server's own headers there might be more than a head may have
  if (headers.fields().size() > kRoom) return;
  http::AnswerHead head{.status = answer.status, .headers = &headers, .request_id = "req1", .length = 7};
  for (const auto coding : {http::Coding::kLength, http::Coding::kChunked, http::Coding::kNoBody}) {
    head.coding = coding;
    const std::string text = http::Compose(head);
    const auto end = http::HeadScanner(text.size() + 1).Scan(text);
    Require(end && *end == text.size(), "an answer that is written down is no head, or several");
    const auto again = http::ParseAnswer(text);
    Require(again && again->status == answer.status, "an answer that is written down is another one");
    const auto lengths = again->headers.Count("Content-Length") + again->headers.Count("Transfer-Encoding");
    Require(lengths == (coding == http::Coding::kNoBody ? 0U : 1U), "a length of the program's own");
  }
}

}  // namespace

// The first two bytes say where the body is cut in two, the first one also whether the request was HEAD.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto end = http::HeadScanner(kHeadLimit).Scan(bytes);
  if (!end || !*end) return 0;
  const auto answer = http::ParseAnswer(bytes.substr(0, **end));
  if (!answer) return 0;
  Require(answer->status >= 100 && answer->status < 600, "a status that there is not");
  for (const auto& [name, value] : answer->headers.fields())
    Require(http::IsToken(name) && value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos,
            "a header of several lines");
  const auto framing = http::FramingOf(*answer, data[0] % 8 == 0 ? "HEAD" : "GET");
  CheckForClient(*answer);
  if (!framing) return 0;
  Require(answer->headers.Count("Content-Length") + answer->headers.Count("Transfer-Encoding") <= 1, "two lengths");
  const std::string_view body = bytes.substr(**end);
  CheckBody(*framing, body, (data[0] * 256U + data[1]) % (body.size() + 1));
  return 0;
}
