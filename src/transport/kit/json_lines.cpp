#include "transport/kit/json_lines.hpp"

#include <utility>

#include "json/text.hpp"

namespace skerry::transport::kit {

void AppendJsonLine(std::string& bytes, const Json& value) {
  bytes += json::Text(value);
  bytes += '\n';
}

http::Response JsonLinesAnswer(std::unique_ptr<http::Stream> stream, const std::string& type) {
  http::Response response{.headers = {{"Content-Type", type}, {"X-Accel-Buffering", "no"}}};
  response.body = std::move(stream);
  return response;
}

}  // namespace skerry::transport::kit
