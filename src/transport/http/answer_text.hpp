// The head of an answer, as it goes over the wire.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "transport/http/message.hpp"
#include "transport/http/wire.hpp"

namespace skerry::transport::http {

enum class Coding { kLength, kChunked, kUntilClose, kNoBody };

struct AnswerHead {
  int status = 200;
  const Headers* headers = nullptr;  // borrowed
  std::string_view request_id;
  std::string_view trace;  // `traceparent`; "" for none
  Coding coding = Coding::kLength;
  std::uint64_t length = 0;  // of kLength
  Version version = Version::kHttp11;
  bool keep_alive = true;
  std::string_view upgrade = "";  // the protocol that a 101 changes to
};
// The head as text, with its empty line. Headers that could end a line early are left out, as are those that the server
// sets itself.
std::string Compose(const AnswerHead& head);

std::string_view ReasonOf(int status);
// RFC 9110 "IMF-fixdate".
std::string HttpDate(std::time_t when);
// 1 to 64 of A-Z a-z 0-9 . _ -
bool IsRequestId(std::string_view text);

}  // namespace skerry::transport::http
