// Newline-delimited JSON: a streamed answer of many values, each on a line of its own.
#pragma once

#include <memory>
#include <string>

#include "transport/http/message.hpp"
#include "transport/kit/answers.hpp"

namespace skerry::transport::kit {

// Appends a value to what a Stream sends. The text of a value has no line end, so one value cannot be taken for two.
void AppendJsonLine(std::string& bytes, const Json& value);

// `type` is the media type that the clients of a dialect expect: "application/x-ndjson", for some "text/event-stream".
http::Response JsonLinesAnswer(std::unique_ptr<http::Stream> stream, const std::string& type = "application/x-ndjson");

}  // namespace skerry::transport::kit
