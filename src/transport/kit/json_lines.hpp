// Newline-delimited JSON: an answer of many values, each on a line of its own, as they come.
#pragma once

#include <memory>
#include <string>

#include "transport/http/message.hpp"
#include "transport/kit/answers.hpp"

namespace skerry::transport::kit {

// What a Stream says next. No value has a line end in its text, so none can be taken for two.
void AppendJsonLine(std::string& bytes, const Json& value);

// `type` is what the clients of a dialect expect: "application/x-ndjson", or for some "text/event-stream".
http::Response JsonLinesAnswer(std::unique_ptr<http::Stream> stream, const std::string& type = "application/x-ndjson");

}  // namespace skerry::transport::kit
